package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.ui.Readings.Reading;
import dev.outbox.ui.Readings.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How an outbox does, in words.
 *
 * @param mood a class of the style sheet
 * @param verdict goes on after "oldest free message, …"
 * @param reasons why, and where to look
 */
record Health(Mood mood, String verdict, List<Html> reasons) {
  /** A relay takes what is free at once; its pauses in an outage of the broker are shorter. */
  private static final Duration LONG = Duration.ofMinutes(1);

  /** Readings of two clocks differ by less. */
  private static final Duration NOTHING = Duration.ofSeconds(1);

  /** From the best to the worst. */
  enum Mood {
    FINE,
    CARE,
    BAD
  }

  static Health of(Reading now) {
    List<Html> reasons = new ArrayList<>();
    Statistics figures = now.statistics();
    now.halted().forEach(key -> reasons.add(halted(key)));
    if (figures.haltedKeys() > now.halted().size()) {
      Link halted = Link.to("keys").with("halted", "yes");
      reasons.add(
          all("Halted in all: ", link(halted, count(figures.haltedKeys(), "key", now)), "."));
    }
    if (figures.blockedKeys() > 0) {
      Html keys = link(Link.to("keys"), count(figures.blockedKeys(), "key", now));
      reasons.add(all("Waiting for a retry: ", keys, now.retried().map(Health::retried), "."));
    }
    if (figures.dead() > 0) {
      Html letters = link(Link.to("dead-letters"), count(figures.dead(), "dead letter", now));
      reasons.add(all("Waiting for a decision: ", letters, "."));
    }
    now.warnings().forEach(warning -> reasons.add(all("Warning: ", foreign(warning))));
    return verdict(now, reasons);
  }

  private static Html halted(WaitingKey key) {
    return all(
        "Key ",
        foreign(key.key()),
        " is halted by ",
        link(Link.message(key.behind()), "dead letter ", key.behind()),
        key.waiting() == 0 ? null : ", " + KeyList.waiting(key) + " behind it",
        ".");
  }

  private static Html retried(WaitingKey one) {
    return all(
        ", as ",
        foreign(one.key()),
        " behind ",
        link(Link.message(one.behind()), "message ", one.behind()));
  }

  private static String count(long number, String what, Reading now) {
    return Words.count(number, now.statistics().cap(), what);
  }

  private static Health verdict(Reading now, List<Html> reasons) {
    Statistics figures = now.statistics();
    Duration oldest = figures.oldestFree();
    if (oldest == null) {
      return figures.blocked() > 0 ? blocked(figures, reasons) : idle(figures, reasons);
    }
    boolean isHeld = now.leases().map(leases -> !leases.isEmpty()).orElse(true);
    if (Integer.valueOf(0).equals(figures.relays()) && !isHeld) {
      return bad("standing still because no relay lives", reasons);
    }
    if (isLong(oldest) && !isHeld) {
      return bad(
          "standing still because no relay holds anything: its broker is away, or its user lacks"
              + " rights",
          reasons);
    }
    if (!isLong(oldest)) {
      return new Health(mood(figures), "delivering", reasons);
    }
    return hasMoved(oldest, now, now.before())
        ? new Health(Mood.CARE, "delivering a backlog", reasons)
        : bad("standing still although relays hold it: their logs say why", reasons);
  }

  private static Health idle(Statistics figures, List<Html> reasons) {
    String later =
        figures.scheduled() == 0
            ? ""
            : ", " + Words.capped(figures.scheduled(), figures.cap()) + " due later";
    return new Health(mood(figures), "nothing to do" + later, reasons);
  }

  private static Health blocked(Statistics figures, List<Html> reasons) {
    return figures.blockedKeys() == 0
        ? bad("standing still because dead letters halt all keys that wait", reasons)
        : isLong(figures.oldestBlocked())
            ? bad("standing still because all keys that wait have failed", reasons)
            : new Health(Mood.CARE, "waiting for a retry", reasons);
  }

  private static boolean isLong(@Nullable Duration time) {
    return time != null && time.compareTo(LONG) >= 0;
  }

  private static Health bad(String verdict, List<Html> reasons) {
    return new Health(Mood.BAD, verdict, reasons);
  }

  private static Mood mood(Statistics figures) {
    return figures.haltedKeys() + figures.blockedKeys() + figures.dead() > 0
        ? Mood.CARE
        : Mood.FINE;
  }

  /** Whether another message is the oldest now. Without an older sample nobody knows: yes. */
  private static boolean hasMoved(Duration oldest, Reading now, @Nullable Sample before) {
    if (before == null || before.statistics().oldestFree() == null) {
      return true;
    }
    return before
        .at()
        .minus(before.statistics().oldestFree())
        .plus(NOTHING)
        .isBefore(now.at().minus(oldest));
  }
}
