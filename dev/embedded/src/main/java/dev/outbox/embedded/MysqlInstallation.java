package dev.outbox.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A MySQL or MariaDB server that runs on this machine.
 *
 * @param program the server
 * @param version all that it says of its version, as {@code 10.11.6-MariaDB-0+deb12u1}
 * @param home its directory, when all of it is in one, as ours is; an installed package knows
 *     itself where it has put what
 */
record MysqlInstallation(Path program, String version, Optional<Path> home) {
  private static final Logger log = LoggerFactory.getLogger(MysqlInstallation.class);
  private static final Pattern VERSION = Pattern.compile("Ver (\\S+)");
  private static final Pattern NUMBERS = Pattern.compile("\\d+(\\.\\d+)+");

  /**
   * The one that a property or a variable names; else the version asked for; else one that the
   * shell finds; else the one in the cache, where it is put first if need be.
   *
   * @throws UnsupportedOperationException when there is none for this machine, with the reason
   */
  static MysqlInstallation find(MysqlKind kind) throws IOException {
    String named = Machine.setting("outbox." + kind.program);
    if (named != null) {
      return named(kind, Path.of(named));
    }
    Optional<String> version = kind.versionAskedFor();
    if (version.isPresent() && !version.get().equals(Machine.INSTALLED)) {
      return unpacked(kind, kind.release(version.get()));
    }
    Optional<MysqlInstallation> installed = installed(kind, Machine.programs(kind.program));
    if (installed.isEmpty() && version.isPresent()) {
      throw new IllegalStateException(
          "%s is %s, and there is no program %s of %s %s or newer: install one"
              .formatted(
                  kind.versionProperty(), version.get(), kind.program, kind.label, kind.oldest));
    }
    return installed.isPresent() ? installed.get() : unpacked(kind, kind.releases.get(0));
  }

  private static MysqlInstallation named(MysqlKind kind, Path program) throws IOException {
    MysqlInstallation server = of(kind, program);
    if (!server.is(kind)) {
      throw new IllegalArgumentException(
          "outbox.%s is %s, version %s: it must be %s %s or newer"
              .formatted(kind.program, program, server.version, kind.label, kind.oldest));
    }
    return server;
  }

  /** The first of these that will do. */
  static Optional<MysqlInstallation> installed(MysqlKind kind, Stream<Path> programs) {
    return programs.flatMap(program -> usable(kind, program).stream()).findFirst();
  }

  private static Optional<MysqlInstallation> usable(MysqlKind kind, Path program) {
    String what;
    try {
      MysqlInstallation server = of(kind, program);
      if (server.is(kind)) {
        return Optional.of(server);
      }
      what = "version " + server.version; // the other server's, where mysqld is a link to mariadbd
    } catch (IOException | UnsupportedOperationException e) {
      what = String.valueOf(e.getMessage());
    }
    log.info("{} is passed by, not {} {} or newer: {}", program, kind.label, kind.oldest, what);
    return Optional.empty();
  }

  private static MysqlInstallation unpacked(MysqlKind kind, MavenArchive release)
      throws IOException {
    if (!Machine.isLinuxX64()) {
      throw new UnsupportedOperationException(
          "there is no embedded %s for %s: install a %s and name it with -Doutbox.%s=…"
              .formatted(kind.label, Machine.name(), kind.program, kind.program));
    }
    Path home =
        Cache.get(
            release.name().replace(' ', '-'),
            path -> release.with(path, zip -> unpack(kind, zip, path)));
    return of(kind, home.resolve("bin").resolve(kind.program));
  }

  /** Asks the program for its version, which also shows whether it runs here. */
  private static MysqlInstallation of(MysqlKind kind, Path program) throws IOException {
    String version;
    try {
      version = Program.version(List.of(program.toString(), "--version"), VERSION);
    } catch (IOException e) {
      SharedLibraries.check(kind.label, program);
      throw e;
    }
    Path home = program.toRealPath().resolve("../..").normalize();
    boolean isWhole = Files.exists(home.resolve("share/english/errmsg.sys"));
    return new MysqlInstallation(program, version, isWhole ? Optional.of(home) : Optional.empty());
  }

  private boolean is(MysqlKind kind) {
    Matcher numbers = NUMBERS.matcher(version);
    return version.contains("MariaDB") == (kind != MysqlKind.MYSQL)
        && numbers.lookingAt()
        && Version.parse(numbers.group()).compareTo(Version.parse(kind.oldest)) >= 0;
  }

  private static void unpack(MysqlKind kind, Path archive, Path to) throws IOException {
    try (ZipFile zip = new ZipFile(archive.toFile())) {
      for (ZipEntry entry : zip.stream().filter(e -> !e.isDirectory()).toList()) {
        Matcher kept = kind.kept.matcher(entry.getName());
        if (kept.matches()) {
          unpack(zip, entry, to, kept.group("name"));
        }
      }
    }
    if (kind == MysqlKind.MYSQL) {
      // Debian 13 and Ubuntu 24.04 have renamed this library. Elsewhere the link leads nowhere, and
      // the system's library is found after it.
      Files.createSymbolicLink(
          to.resolve("lib/private/libaio.so.1"),
          Path.of("/usr/lib/x86_64-linux-gnu/libaio.so.1t64"));
    }
  }

  private static void unpack(ZipFile zip, ZipEntry entry, Path to, String name) throws IOException {
    Path file = to.resolve(name).normalize();
    if (!file.startsWith(to)) {
      throw new IOException("the archive has a path outside of it: " + entry.getName());
    }
    Files.createDirectories(file.getParent());
    try (InputStream in = zip.getInputStream(entry)) {
      Files.copy(in, file);
    }
    if (name.startsWith("bin/") || name.startsWith("scripts/")) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
  }
}
