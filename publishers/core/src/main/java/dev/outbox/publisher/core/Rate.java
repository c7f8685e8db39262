package dev.outbox.publisher.core;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How many messages in which time, as {@code 20/s}. For {@link LimitedPublisher}.
 *
 * @param messages from 1 to 100,000
 * @param period from a second to a day
 */
public record Rate(int messages, Duration period) {
  private static final int MOST = 100_000;
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofDays(1);
  private static final Pattern TEXT = Pattern.compile("(\\d{1,6})\\s*/\\s*([smhd])");
  private static final Map<String, Duration> UNITS =
      Map.of("s", SHORTEST, "m", Duration.ofMinutes(1), "h", Duration.ofHours(1), "d", LONGEST);

  /**
   * @throws IllegalArgumentException naming the value and what is allowed
   */
  public Rate {
    if (messages < 1 || messages > MOST) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "a rate of %s messages is given, allowed is from 1 to %,d",
              messages,
              MOST));
    }
    TimeLimits.check("the period of a rate", period, SHORTEST, LONGEST);
  }

  /** So many messages a second. */
  public static Rate perSecond(int messages) {
    return new Rate(messages, SHORTEST);
  }

  /**
   * Reads {@code 20/s}, {@code 600/m}, {@code 5000/h} or {@code 10000/d}.
   *
   * @throws IllegalArgumentException when it is none of these
   */
  public static Rate parse(String text) {
    Matcher parts = TEXT.matcher(text.strip());
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "the rate %s is not understood: give messages and a unit, as 20/s, 600/m, 5000/h or 10000/d"
              .formatted(text));
    }
    return new Rate(Integer.parseInt(parts.group(1)), requireNonNull(UNITS.get(parts.group(2))));
  }

  @Override
  public String toString() {
    return UNITS.entrySet().stream()
        .filter(unit -> unit.getValue().equals(period))
        .map(unit -> messages + "/" + unit.getKey())
        .findFirst()
        .orElseGet(() -> messages + " in " + Texts.time(period));
  }
}
