package dev.outbox.dev.torture;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a run did and found.
 *
 * @param faults how many of each kind
 * @param troubles of the relays' own making, as calls of the publisher that throw
 * @param deliveries records in the broker's log
 * @param duplicates deliveries of what had been delivered before
 * @param archived how many the archive has
 * @param claims those with messages
 * @param handedOver appends whose messages were handed over to the relay of their process
 * @param effects what consumers did about messages
 * @param repetitions how often an inbox said that it was done
 * @param locks that consumers had
 * @param longestStandstill of the outbox, after all faults were over: the longest time without
 *     progress
 * @param violations a sentence each
 */
public record Summary(
    Settings settings,
    Map<String, Long> faults,
    Map<String, Long> troubles,
    long committed,
    long deliveries,
    long duplicates,
    long deadLetters,
    long discarded,
    long archived,
    long claims,
    long handedOver,
    long effects,
    long repetitions,
    long locks,
    Duration longestStandstill,
    List<String> violations) {
  private static final int SHOWN = 20;

  public long faultCount() {
    return faults.values().stream().mapToLong(Long::longValue).sum();
  }

  /** For people. */
  public String text() {
    return """
        servers      %s and %s, seed %d, %d s of faults
        faults       %d: %s
        troubles     %s
        messages     %d committed, %d deliveries of which %d again, %d dead letters left, %d discarded
        archive      %s, %d messages
        claims       %d
        handed over  %d appends
        inboxes      %d effects, %d repetitions told, %d locks
        standstill   %d ms at most, once all faults were over
        violations   %d%s
        """
        .formatted(
            settings.database(),
            settings.broker(),
            settings.seed(),
            settings.time().toSeconds(),
            faultCount(),
            list(faults),
            list(troubles),
            committed,
            deliveries,
            duplicates,
            deadLetters,
            discarded,
            settings.archive().name().toLowerCase(Locale.ROOT),
            archived,
            claims,
            handedOver,
            effects,
            repetitions,
            locks,
            longestStandstill.toMillis(),
            violations.size(),
            violations.stream().limit(SHOWN).map(v -> "\n  " + v).collect(Collectors.joining()));
  }

  private static String list(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .map(e -> e.getKey() + " " + e.getValue())
        .collect(Collectors.joining(", "));
  }
}
