package dev.outbox.cli;

import dev.outbox.Texts;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as people write them in options and properties. */
final class Durations {
  /** The end of an error's sentence. */
  static final String NEEDED = "a time is needed, as 500ms, 30s, 5m, 1h or 7d";

  private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  private Durations() {}

  /** In our form or in that of ISO 8601; empty when it is neither, or below zero. */
  static Optional<Duration> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (matcher.matches()) {
      long number = Long.parseLong(matcher.group(1));
      return Optional.of(
          switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
          });
    }
    try {
      return Optional.of(Duration.parse(text)).filter(time -> !time.isNegative());
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  /**
   * The moment so long before another.
   *
   * @throws Failure when there is none
   */
  static Instant before(Instant end, Duration time) {
    try {
      return end.minus(time);
    } catch (DateTimeException | ArithmeticException e) {
      throw new Failure(
          "there is no time %s before %s: give another".formatted(Texts.time(time), end), e);
    }
  }
}
