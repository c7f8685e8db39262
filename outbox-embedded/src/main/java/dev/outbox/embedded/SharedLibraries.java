package dev.outbox.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The libraries of the system that a program needs. */
final class SharedLibraries {
  private static final Pattern MISSING = Pattern.compile("(\\S+) => not found");

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
    TreeSet<String> missing =
        MISSING
            .matcher(ldd)
            .results()
            .map(r -> r.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    if (!missing.isEmpty()) {
      throw new UnsupportedOperationException(
          ("%s does not start, because this system lacks %s. On Debian 12 and older, and Ubuntu"
                  + " 22.04: apt-get install libaio1 libnuma1. On newer ones: apt-get install"
                  + " libaio1t64 libnuma1. On Fedora and its like: dnf install libaio numactl-libs")
              .formatted(name, String.join(", ", missing)));
    }
  }
}
