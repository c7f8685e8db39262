package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The libraries of the system that a program needs. */
final class SharedLibraries {
  private static final Pattern MISSING = Pattern.compile("(\\S+) => not found");

  private SharedLibraries() {}

  /**
   * Looks why a program did not start.
   *
   * @throws UnsupportedOperationException when it lacks libraries, with their names
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
      throw new UnsupportedOperationException(
          "%s does not start, because this system lacks %s: see CONTRIBUTING.md"
              .formatted(name, String.join(", ", missing)));
    }
  }
}
