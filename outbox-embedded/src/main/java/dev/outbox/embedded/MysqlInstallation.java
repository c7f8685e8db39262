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
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A MySQL or MariaDB server that runs on this machine.
 *
 * @param program the server
 * @param version all that it says of its version, as {@code 10.11.6-MariaDB-0+deb12u1}
 * @param home its directory, when it is one of our own
 */
record MysqlInstallation(Path program, String version, Optional<Path> home) {
  private static final Pattern VERSION = Pattern.compile("Ver (\\S+)");
  private static final Pattern NUMBERS = Pattern.compile("\\d+(\\.\\d+)+");

  /**
   * The one that a property or a variable names; else one that the shell finds; else the one in the
   * cache, where it is put first if need be.
   *
   * @throws UnsupportedOperationException when there is none for this machine, with the reason
   */
  static MysqlInstallation find(MysqlKind kind) throws IOException {
    String named = Machine.setting("outbox." + kind.program);
    if (named != null) {
      return named(kind, Path.of(named));
    }
    Optional<MysqlInstallation> installed =
        Machine.program(kind.program).flatMap(p -> usable(kind, p));
    return installed.isPresent() ? installed.get() : unpacked(kind);
  }

  private static MysqlInstallation named(MysqlKind kind, Path program) throws IOException {
    MysqlInstallation server = of(kind, program, Optional.empty());
    if (!server.is(kind)) {
      throw new IllegalArgumentException(
          "outbox.%s is %s, version %s: it must be %s %s or newer"
              .formatted(kind.program, program, server.version, kind.label, kind.oldest));
    }
    return server;
  }

  private static Optional<MysqlInstallation> usable(MysqlKind kind, Path program) {
    try {
      return Optional.of(of(kind, program, Optional.empty())).filter(server -> server.is(kind));
    } catch (IOException | UnsupportedOperationException e) {
      return Optional.empty(); // it does not run
    }
  }

  private static MysqlInstallation unpacked(MysqlKind kind) throws IOException {
    if (!Machine.isLinuxX64()) {
      throw new UnsupportedOperationException(
          ("there is no embedded %s for %s: install a %s and name it with -Doutbox.%s=…, or name a"
                  + " running server with -Doutbox.test.%s.url=…")
              .formatted(kind.label, Machine.name(), kind.program, kind.program, kind.key()));
    }
    Path home =
        Cache.get(
            kind.archive.name().replace(' ', '-'),
            path -> kind.archive.with(path, kind.keptMegabytes, zip -> unpack(kind, zip, path)));
    return of(kind, home.resolve("bin").resolve(kind.program), Optional.of(home));
  }

  /** Asks the program for its version, which also shows whether it runs here. */
  private static MysqlInstallation of(MysqlKind kind, Path program, Optional<Path> home)
      throws IOException {
    String said;
    try {
      said = Program.run(List.of(program.toString(), "--version"));
    } catch (IOException e) {
      SharedLibraries.check(kind.label, program);
      throw e;
    }
    Matcher version = VERSION.matcher(said);
    if (!version.find()) {
      throw new IOException("%s does not say its version but: %s".formatted(program, said));
    }
    return new MysqlInstallation(program, version.group(1), home);
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
        if (!kept.matches()) {
          continue;
        }
        String name = kept.group("name");
        Path file = to.resolve(name).normalize();
        if (!file.startsWith(to)) {
          throw new IOException("the archive has a path outside of it: " + entry.getName());
        }
        Files.createDirectories(file.getParent());
        try (InputStream in = zip.getInputStream(entry)) {
          Files.copy(in, file);
        }
        if (name.startsWith("bin/")) {
          Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
      }
    }
  }
}
