package dev.outbox.embedded;

import java.io.IOException;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL that runs on this machine: one of Maven Central's, built without JIT, or an
 * installed one, as users have it.
 *
 * @param version as {@code 18.4}
 * @param bin where its programs are
 * @param isInstalled whether it is left as it ships
 */
record PostgresInstallation(String version, Path bin, boolean isInstalled) {
  static final String PROPERTY = "outbox.test.postgres.version";
  private static final int OLDEST = 14;
  private static final Pattern VERSION = Pattern.compile("\\(PostgreSQL\\) (\\d+(\\.\\d+)*)");

  /** Where Debian and Ubuntu put theirs, each version in a folder of its own. */
  private static final Path DEBIAN = Path.of("/usr/lib/postgresql");

  /**
   * The one that is asked for; else the newest of Maven Central's.
   *
   * @param asked as the property has it; or null
   * @throws UnsupportedOperationException when nothing is asked for and none is there for this
   *     machine, with the reason
   */
  static PostgresInstallation find(@Nullable String asked) throws IOException {
    if (asked == null) {
      return PostgresArchive.newest();
    }
    if (asked.equals(Machine.INSTALLED)) {
      return installed(DEBIAN);
    }
    if (asked.contains("/") || asked.contains("\\")) {
      return named(Path.of(asked));
    }
    return PostgresArchive.of(asked)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s is %s: it must be %s, %s or the folder with the programs of a PostgreSQL"
                        .formatted(PROPERTY, asked, PostgresArchive.offered(), Machine.INSTALLED)));
  }

  /** As {@code 18.4}, or {@code 15.18 as installed}. */
  String label() {
    return isInstalled ? version + " as " + Machine.INSTALLED : version;
  }

  Path program(String name) {
    return program(bin, name);
  }

  /**
   * The newest below that folder, or the one that the shell finds.
   *
   * @param folder as Debian has it: {@code 15/bin} and {@code 16/bin} are in it
   */
  static PostgresInstallation installed(Path folder) throws IOException {
    for (Path bin : candidates(folder)) {
      PostgresInstallation found = of(bin);
      if (found.isNewEnough()) {
        return found;
      }
    }
    throw new IllegalStateException(
        "%s is %s, and there is no PostgreSQL %s or newer in %s or where the shell looks: install"
                .formatted(PROPERTY, Machine.INSTALLED, OLDEST, folder)
            + " one, on Debian with apt-get install postgresql, or name the folder with its"
            + " programs");
  }

  private static List<Path> candidates(Path folder) throws IOException {
    Stream<Path> onPath = Machine.program("postgres").map(Path::getParent).stream();
    if (!Files.isDirectory(folder)) {
      return onPath.filter(PostgresInstallation::hasPrograms).toList();
    }
    try (Stream<Path> versions = Files.list(folder)) {
      Comparator<Path> byVersion =
          Comparator.comparing(path -> Version.parse(path.getFileName().toString()));
      Stream<Path> below =
          versions
              .filter(path -> path.getFileName().toString().matches("\\d+"))
              .sorted(byVersion.reversed())
              .map(path -> path.resolve("bin"));
      return Stream.concat(below, onPath).filter(PostgresInstallation::hasPrograms).toList();
    }
  }

  private static PostgresInstallation named(Path bin) throws IOException {
    if (!hasPrograms(bin)) {
      throw new IllegalArgumentException(
          "%s is %s, which has no programs postgres and initdb: name the folder that has them, as"
                  .formatted(PROPERTY, bin)
              + " /usr/lib/postgresql/15/bin");
    }
    PostgresInstallation server = of(bin);
    if (!server.isNewEnough()) {
      throw new IllegalArgumentException(
          "%s is %s, which has version %s: it must be %s or newer"
              .formatted(PROPERTY, bin, server.version, OLDEST));
    }
    return server;
  }

  private static boolean hasPrograms(Path bin) {
    return Files.isExecutable(program(bin, "postgres"))
        && Files.isExecutable(program(bin, "initdb"));
  }

  private static Path program(Path bin, String name) {
    return bin.resolve(Machine.WINDOWS ? name + ".exe" : name);
  }

  private static PostgresInstallation of(Path bin) throws IOException {
    List<String> question = List.of(program(bin, "postgres").toString(), "--version");
    return new PostgresInstallation(Program.version(question, VERSION), bin, true);
  }

  private boolean isNewEnough() {
    return Integer.parseInt(version.replaceFirst("\\..*", "")) >= OLDEST;
  }
}
