package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The libraries of the system that a program needs. */
final class SharedLibraries {
  private static final Pattern MISSING = Pattern.compile("(\\S+) => not found");
  private static final Map<String, String> DEBIAN =
      Map.of(
          "libaio.so.1", "libaio1",
          "libnuma.so.1", "libnuma1",
          "libcrypt.so.1", "libcrypt1",
          "libcrypto.so.3", "libssl3",
          "libstdc++.so.6", "libstdc++6",
          "libsystemd.so.0", "libsystemd0");

  private SharedLibraries() {}

  /**
   * Looks why a program did not start.
   *
   * @throws UnsupportedOperationException when it lacks libraries, with their names and the command
   *     that installs them
   */
  static void check(String name, Path program) {
    String said;
    try {
      said = Program.run(List.of("ldd", program.toString()));
    } catch (IOException e) {
      return; // it is no program of this system: what it said itself is the better reason
    }
    check(name, said);
  }

  /**
   * {@link #check(String, Path)}.
   *
   * @param ldd what the program {@code ldd} says
   */
  static void check(String name, String ldd) {
    List<String> missing =
        MISSING.matcher(ldd).results().map(found -> found.group(1)).distinct().sorted().toList();
    if (!missing.isEmpty()) {
      String packages =
          missing.stream()
              .map(library -> DEBIAN.getOrDefault(library, "the package with " + library))
              .collect(Collectors.joining(" "));
      throw new UnsupportedOperationException(
          "%s does not start, because this system lacks %s: apt-get install %s%s"
              .formatted(
                  name,
                  String.join(", ", missing),
                  packages,
                  missing.contains("libaio.so.1")
                      ? " (on Debian 13, Ubuntu 24.04 and newer libaio1t64 instead of libaio1)"
                      : ""));
    }
  }
}
