package dev.outbox.dev.torture;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a run did and found.
 *
 * @param did for people, a line for each name
 * @param faultCount how many faults there were
 * @param violations a sentence each
 */
public record Summary(Map<String, String> did, long faultCount, List<String> violations) {
  private static final int SHOWN = 20;

  /** For people. */
  public String text() {
    String lines =
        did.entrySet().stream()
            .map(line -> "%-12s %s\n".formatted(line.getKey(), line.getValue()))
            .collect(Collectors.joining());
    String shown =
        violations.stream().limit(SHOWN).map(v -> "\n  " + v).collect(Collectors.joining());
    return "%s%-12s %d%s\n".formatted(lines, "violations", violations.size(), shown);
  }

  static String list(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .map(e -> e.getKey() + " " + e.getValue())
        .collect(Collectors.joining(", "));
  }
}
