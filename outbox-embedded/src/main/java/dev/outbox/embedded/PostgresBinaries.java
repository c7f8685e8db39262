package dev.outbox.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

  /** Without the password. */
  @Override
  public String toString() {
    return template.toString();
  }

  private static final int NOBODY = 65_534;

  /** Unpacks and initialises what is not in the cache yet. */
  static PostgresBinaries get() {
    String archive = archiveName();
    try {
      String name = "postgresql-" + Cache.version("postgres") + "-" + archive.replace(".txz", "");
      Path home = Cache.get(name, path -> unpack(archive, path));
      Path template = Cache.get(name + "-data", path -> initialise(home, path));
      String password = Password.kept(template);
      return new PostgresBinaries(home, template.resolve("data"), password);
    } catch (IOException e) {
      throw new UncheckedIOException("PostgreSQL could not be unpacked: " + e.getMessage(), e);
    }
  }

  /** PostgreSQL refuses to run as root: what to put before a command so that it does not. */
  static List<String> asOrdinaryUser() {
    if (!Machine.isRoot()) {
      return List.of();
    }
    if (Machine.program("setpriv").isEmpty()) {
      throw new UnsupportedOperationException(
          "PostgreSQL does not run as root, and the program setpriv (of util-linux), which would"
              + " run it as another user, is not there: install it, or run this as an ordinary"
              + " user");
    }
    return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
  }

  private static void own(Path path) throws IOException {
    if (Machine.isRoot()) {
      Files.setAttribute(path, "unix:uid", NOBODY);
      Files.setAttribute(path, "unix:gid", NOBODY);
    }
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
          "there is no embedded PostgreSQL for %s: the class path has no %s"
              .formatted(Machine.name(), name));
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
        if (Machine.POSIX && !e.isSymbolicLink()) {
          boolean executable = e.isDirectory() || (e.getMode() & 0100) != 0;
          Files.setPosixFilePermissions(
              path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
        }
      }
    }
  }

  private static void initialise(Path home, Path to) throws IOException {
    String password = Password.random();
    Path data = Files.createDirectory(to.resolve("data"));
    Path secret = Password.write(to.resolve("password.tmp"), password);
    own(data);
    own(secret);
    List<String> command = new ArrayList<>(asOrdinaryUser());
    command.add(home.resolve("bin").resolve(Machine.WINDOWS ? "initdb.exe" : "initdb").toString());
    command.addAll(List.of("-D", data.toString(), "-U", "postgres", "--pwfile=" + secret));
    command.addAll(List.of("-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"));
    Program.run(command);
    Files.delete(secret);
    Password.keep(password, to);
  }
}
