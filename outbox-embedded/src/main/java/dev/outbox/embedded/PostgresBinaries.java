package dev.outbox.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * PostgreSQL unpacked, and an initialised data directory to copy; both are made once.
 *
 * @param home where {@code bin/postgres} is
 * @param template an initialised data directory
 * @param password of the user {@code postgres} in it
 */
record PostgresBinaries(Path home, Path template, String password) {
  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
  private static final int NOBODY = 65_534;

  /** Unpacks and initialises what is not in the cache yet. */
  static PostgresBinaries get() {
    String archive = archiveName();
    try {
      String name = "postgresql-" + Cache.version("postgres") + "-" + archive.replace(".txz", "");
      Path home = Cache.get(name, path -> unpack(archive, path));
      Path template = Cache.get(name + "-data", path -> initialise(home, path));
      String password = Files.readString(template.resolve("password"), UTF_8);
      return new PostgresBinaries(home, template.resolve("data"), password);
    } catch (IOException e) {
      throw new UncheckedIOException("PostgreSQL could not be unpacked: " + e.getMessage(), e);
    }
  }

  /** PostgreSQL refuses to run as root: what to put before a command so that it does not. */
  static List<String> asOrdinaryUser() {
    if (!isRoot()) {
      return List.of();
    }
    boolean hasSetpriv =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
            .anyMatch(dir -> Files.isExecutable(Path.of(dir, "setpriv")));
    if (!hasSetpriv) {
      throw new UnsupportedOperationException(
          "PostgreSQL does not run as root, and the program setpriv (of util-linux), which would"
              + " run it as another user, is not there: install it, or run this as an ordinary"
              + " user");
    }
    return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
  }

  private static void own(Path path) throws IOException {
    if (isRoot()) {
      Files.setAttribute(path, "unix:uid", NOBODY);
      Files.setAttribute(path, "unix:gid", NOBODY);
    }
  }

  private static boolean isRoot() {
    return Cache.POSIX && System.getProperty("user.name").equals("root");
  }

  private static String archiveName() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String system =
        os.startsWith("mac") ? "darwin" : os.startsWith("windows") ? "windows" : "linux";
    String arch =
        switch (System.getProperty("os.arch")) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64", "arm64" -> "arm_64";
          default -> System.getProperty("os.arch");
        };
    String name = "postgres-" + system + "-" + arch + ".txz";
    if (PostgresBinaries.class.getResource("/" + name) == null) {
      throw new UnsupportedOperationException(
          "there is no embedded PostgreSQL for %s on %s: the class path has no %s"
              .formatted(System.getProperty("os.name"), System.getProperty("os.arch"), name));
    }
    return name;
  }

  private static void unpack(String archive, Path to) throws IOException {
    try (InputStream in = PostgresBinaries.class.getResourceAsStream("/" + archive);
        TarArchiveInputStream tar =
            new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(in)))) {
      for (TarArchiveEntry e = tar.getNextEntry(); e != null; e = tar.getNextEntry()) {
        Path path = to.resolve(e.getName()).normalize();
        if (!path.startsWith(to)) {
          throw new IOException("the archive has a path outside of it: " + e.getName());
        }
        if (e.isDirectory()) {
          Files.createDirectories(path);
        } else {
          Files.createDirectories(path.getParent());
          if (e.isSymbolicLink()) {
            Files.createSymbolicLink(path, Path.of(e.getLinkName()));
          } else {
            Files.copy(tar, path);
          }
        }
        if (Cache.POSIX && !e.isSymbolicLink()) {
          boolean executable = e.isDirectory() || (e.getMode() & 0100) != 0;
          Files.setPosixFilePermissions(
              path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
        }
      }
    }
  }

  private static void initialise(Path home, Path to) throws IOException {
    byte[] random = new byte[18];
    new SecureRandom().nextBytes(random);
    String password = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    Path data = Files.createDirectory(to.resolve("data"));
    Path secret = Files.writeString(to.resolve("password.tmp"), password, UTF_8);
    own(data);
    own(secret);
    List<String> command = new ArrayList<>(asOrdinaryUser());
    command.add(home.resolve("bin").resolve(WINDOWS ? "initdb.exe" : "initdb").toString());
    command.addAll(List.of("-D", data.toString(), "-U", "postgres", "--pwfile=" + secret));
    command.addAll(List.of("-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"));
    Path log = to.resolve("initdb.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (!process.waitFor(2, TimeUnit.MINUTES) || process.exitValue() != 0) {
        throw new IOException("initdb failed: " + Files.readString(log, UTF_8));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted during initdb", e);
    } finally {
      process.destroyForcibly();
    }
    Files.delete(secret);
    Path kept = Files.writeString(to.resolve("password"), password, UTF_8);
    if (Cache.POSIX) {
      Files.setPosixFilePermissions(kept, PosixFilePermissions.fromString("rw-------"));
    }
  }
}
