package dev.outbox.embedded;

import java.io.File;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The system this runs on, and what its user has set. */
final class Machine {
  /** Asks for the server that is installed on this machine, in place of a version. */
  static final String INSTALLED = "installed";

  static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
  static final boolean POSIX =
      FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

  private Machine() {}

  static boolean isRoot() {
    return POSIX && System.getProperty("user.name").equals("root");
  }

  static boolean isLinuxX64() {
    return System.getProperty("os.name").equals("Linux")
        && List.of("amd64", "x86_64").contains(System.getProperty("os.arch"));
  }

  /** As {@code Linux on amd64}, for errors. */
  static String name() {
    return System.getProperty("os.name") + " on " + System.getProperty("os.arch");
  }

  /** A system property, or else the environment variable of that name in capitals. */
  static @Nullable String setting(String name) {
    String value = System.getProperty(name);
    return value != null ? value : System.getenv(variable(name));
  }

  /** What the user has given that setting by. */
  static String givenBy(String name) {
    return System.getProperty(name) != null ? name : variable(name);
  }

  private static String variable(String name) {
    return name.toUpperCase(Locale.ROOT).replace('.', '_');
  }

  /** A program of this JVM, as {@code java}. */
  static String jdk(String program) {
    return Path.of(System.getProperty("java.home"), "bin", program).toString();
  }

  /** A program that the shell would find, or root's shell. */
  static Optional<Path> program(String name) {
    return programs(name).findFirst();
  }

  /** The one that a property or its variable names; else one that the shell finds; else another. */
  static Path program(String property, String name, Supplier<Path> other) {
    String named = setting(property);
    return named != null ? Path.of(named) : program(name).orElseGet(other);
  }

  /** All of that name, the one that the shell would take first. */
  static Stream<Path> programs(String name) {
    String path = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/sbin";
    return Stream.of(path.split(File.pathSeparator))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable);
  }
}
