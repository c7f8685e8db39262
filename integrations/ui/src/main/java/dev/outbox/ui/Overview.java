package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;

import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.ui.Tables.Row;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The first page: how the outbox does, why, what it has, and who works on it. */
final class Overview {
  private Overview() {}

  static Html of(Diagnosis reading, Source source, List<Diagnosis> samples) {
    Health health = Health.of(reading, source.mask());
    return all(
        top(reading, health),
        Frame.live(
            "rest",
            reasons(health),
            counts(reading.statistics(), samples),
            relays(reading),
            Pausing.links(source, reading.pauses())));
  }

  /** Only the verdict is read out when it changes: the age always does. */
  private static Html top(Diagnosis reading, Health health) {
    Duration oldest = reading.statistics().oldestFree();
    return el(
        "p",
        at("id", "top"),
        el(
            "span",
            at("id", "age"),
            at("data-live", true),
            oldest == null ? null : all(el("strong", Words.age(oldest)), " oldest free message: ")),
        el(
            "span",
            at("id", "verdict"),
            at("role", "status"),
            at("data-live", true),
            el("span", css(health.mood().name().toLowerCase(Locale.ROOT)), health.verdict())));
  }

  private static @Nullable Html reasons(Health health) {
    return health.reasons().isEmpty()
        ? null
        : el(
            "section",
            el("h2", health.mood() == Severity.PROBLEM ? "Why" : "To look at"),
            el("ul", health.reasons().stream().map(reason -> el("li", reason)).toList()));
  }

  private static Html counts(Statistics now, List<Diagnosis> samples) {
    return el(
        "section",
        el("h2", "Messages by state"),
        el(
            "ul",
            css("cards"),
            oldest(now, samples),
            states(now, samples, Status.PENDING, "due and free to go", Statistics::pending),
            states(now, samples, Status.BLOCKED, "wait for their key", Statistics::blocked),
            states(now, samples, Status.SCHEDULED, "due later", Statistics::scheduled),
            states(now, samples, Status.DEAD, "wait for a decision", Statistics::dead)),
        samples.size() < 2
            ? null
            : el(
                "p",
                css("muted"),
                "The lines show the last ",
                Words.age(Sparkline.span(samples)),
                ", as this page has seen them."));
  }

  private static Html oldest(Statistics now, List<Diagnosis> samples) {
    Duration blocked = now.oldestBlocked();
    return card(
        null,
        "oldest free",
        now.oldestFree() == null ? "–" : Words.age(now.oldestFree()),
        blocked == null ? "none is blocked" : "oldest blocked " + Words.age(blocked),
        Sparkline.of(samples, Overview::millisOfOldest));
  }

  private static double millisOfOldest(Diagnosis sample) {
    Duration free = sample.statistics().oldestFree();
    return free == null ? 0 : free.toMillis();
  }

  private static Html states(
      Statistics now,
      List<Diagnosis> samples,
      Status status,
      String meaning,
      ToLongFunction<Statistics> number) {
    return card(
        MessageList.of(status),
        MessageList.name(status),
        Words.capped(number.applyAsLong(now), now.cap()),
        meaning,
        Sparkline.of(samples, sample -> number.applyAsLong(sample.statistics())));
  }

  private static Html card(
      @Nullable Link to, String name, String value, String meaning, Html line) {
    return el(
        "li",
        el(
            to == null ? "div" : "a",
            css("card"),
            at("href", to),
            el("span", name),
            el("strong", value),
            el("span", css("muted"), meaning),
            line));
  }

  private static Html relays(Diagnosis reading) {
    Integer live = reading.statistics().relays();
    return el(
        "section",
        el("h2", "Relays"),
        live == null ? null : el("p", Words.count(live, "relay"), live == 1 ? " lives." : " live."),
        reading
            .leases()
            .map(
                leases ->
                    leases.isEmpty()
                        ? el("p", "Nobody holds anything now.")
                        : held(leases, reading))
            .orElseGet(() -> el("p", "This store does not say who holds what.")));
  }

  private static Html held(List<WorkerLease> leases, Diagnosis reading) {
    return Tables.table(
        "Who holds what",
        List.of("Worker", "Buckets", "Since", "Until"),
        leases.stream()
            .map(
                lease ->
                    Row.of(
                        foreign(lease.worker()),
                        lease.buckets(),
                        Words.ago(lease.since(), reading.at()),
                        Words.ago(lease.until(), reading.at())))
            .toList());
  }
}
