package dev.outbox.ui;

import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.el;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Numbers and times as people read them. */
final class Words {
  private static final DateTimeFormatter UTC =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private Words() {}

  static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** The number, or that it is so many or more. */
  static String capped(long number, long cap) {
    return number(number) + (number >= cap ? " or more" : "");
  }

  /** As "1 key", "3 keys". */
  static String count(long number, String what) {
    return count(number, Long.MAX_VALUE, what);
  }

  /** As "10,000 or more keys". */
  static String count(long number, long cap, String what) {
    return capped(number, cap) + " " + what + (number == 1 ? "" : "s");
  }

  /** The two largest units of a time: "0.4 s", "3 min 20 s", "2 d 4 h". */
  static String age(Duration time) {
    long seconds = Math.max(0, time.toSeconds());
    if (seconds < 10) {
      return String.format(Locale.ROOT, "%.1f s", Math.max(0, time.toMillis()) / 1_000.0);
    }
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3_600) {
      return seconds / 60 + " min" + rest(seconds % 60, " s");
    }
    return seconds < 86_400
        ? seconds / 3_600 + " h" + rest(seconds / 60 % 60, " min")
        : number(seconds / 86_400) + " d" + rest(seconds / 3_600 % 24, " h");
  }

  private static String rest(long number, String unit) {
    return number == 0 ? "" : " " + number + unit;
  }

  /** How long before or behind another time. */
  static Html ago(Instant time, Instant now) {
    Duration age = Duration.between(time, now);
    return el(
        "time",
        at("datetime", time),
        at("title", exact(time)),
        age.isNegative() ? "in " + age(age.negated()) : age(age) + " ago");
  }

  /** A time in UTC, to the second, and how long ago. */
  static Html time(Instant time, Instant now) {
    return Html.all(exact(time), el("span", Html.css("muted"), " · ", ago(time, now)));
  }

  private static String exact(Instant time) {
    return UTC.format(time) + " UTC";
  }
}
