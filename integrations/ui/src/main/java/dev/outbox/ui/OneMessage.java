package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.ui.Tables.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One message: what happened to it, and what it has. */
final class OneMessage {
  private static final Pattern TRACE = Pattern.compile("[0-9a-f]{2}-([0-9a-f]{32})-.*");

  private final Source source;
  private final Instant now;
  private final Inspected found;
  private final Listed listed;

  /** Null: it cannot be decoded. */
  private final @Nullable OutboxMessage message;

  private OneMessage(Source source, Inspected found) {
    this.source = source;
    this.now = source.clock().instant();
    this.found = found;
    this.listed = found.listed();
    this.message = whole(found.message());
  }

  static Html of(Source source, long sequence) {
    OneMessage one = new OneMessage(source, find(source, sequence));
    return all(
        Frame.live("now", one.timeline(), one.decisions()),
        one.facts(),
        one.headers(),
        one.payload());
  }

  /** Only its payload, which may be large or private: for those who ask for it. */
  static Html payloadOf(Source source, long sequence) {
    OutboxMessage message = whole(find(source, sequence).message());
    return all(
        el("p", link(Link.message(sequence), "Back to message ", sequence)),
        message == null
            ? el("p", "It cannot be decoded.")
            : all(
                el("p", size(message)),
                el(
                    "pre",
                    at("tabindex", 0),
                    at("role", "region"),
                    at("aria-label", "Payload"),
                    Payload.shown(message))));
  }

  static Inspected find(Source source, long sequence) {
    return source
        .messages()
        .message(sequence)
        .orElseThrow(
            () ->
                new Refusal(
                    404,
                    "There is no message %s, or no more: it was delivered, discarded or cancelled."
                        .formatted(sequence)));
  }

  private static @Nullable OutboxMessage whole(StoredMessage stored) {
    return stored.problem() == null ? stored.message() : null;
  }

  private static String size(OutboxMessage message) {
    return Words.count(message.payloadSize(), "byte") + " of " + message.contentType();
  }

  private Html timeline() {
    List<Html> steps = new ArrayList<>();
    steps.add(step("Appended", Words.time(listed.appendedAt(), now)));
    if (listed.attempts() > 0) {
      steps.add(
          step(
              "Failed tries: " + Words.number(listed.attempts()),
              listed.failedAt() == null
                  ? null
                  : all("the last ", Words.time(listed.failedAt(), now)),
              listed.error() == null
                  ? null
                  : el("pre", css("error"), source.masked(listed.error()))));
    }
    if (listed.dueAt() != null && listed.status() != Status.DEAD) {
      steps.add(
          step(
              listed.dueAt().isAfter(now) ? "Will be due" : "Due",
              Words.time(listed.dueAt(), now)));
    }
    if (listed.expiresAt() != null) {
      steps.add(
          step(
              listed.expiresAt().isAfter(now) ? "Will expire" : "Expired: it leaves unpublished",
              Words.time(listed.expiresAt(), now)));
    }
    steps.add(step("Now", MessageList.state(listed.status()), all(" ", meaning())));
    return el("section", el("h2", "Timeline"), el("ol", css("timeline"), steps));
  }

  private static Html step(String what, @Nullable Object... more) {
    return el("li", el("strong", what), " ", all(more));
  }

  private Html meaning() {
    Long behind = found.behind();
    return behind != null
        ? all("behind ", link(Link.message(behind), "message ", behind), " of its key")
        : all(
            switch (listed.status()) {
              case PENDING -> "free to go: a relay takes it next";
              case SCHEDULED -> "waits until it is due";
              case BLOCKED -> "tried again; later ones of its key wait for it";
              case DEAD ->
                  listed.haltsKey()
                      ? "waits for somebody who decides, and halts its key"
                      : "waits for somebody who decides; later ones of its key pass it";
            });
  }

  private @Nullable Html decisions() {
    return listed.status() == Status.DEAD || listed.status() == Status.SCHEDULED
        ? Deciding.links(source, listed.status(), Selection.one(listed.sequence()), 1)
        : null;
  }

  private Html facts() {
    List<@Nullable Html> facts = new ArrayList<>();
    facts.add(fact("Id", listed.id()));
    facts.add(
        all(
            el("dt", "Key"),
            el("dd", link(Link.to("messages").with("key", listed.key()), foreign(listed.key())))));
    facts.add(fact("Aggregate type", listed.aggregateType()));
    facts.add(fact("Event type", listed.eventType()));
    if (message == null) {
      facts.add(fact("Cannot be decoded", found.message().problem()));
    } else {
      facts.add(fact("Aggregate id", message.aggregateId()));
      facts.add(fact("Dedup key", message.dedupKey()));
      facts.add(fact("Correlation id", message.correlationId()));
      facts.add(fact("Trace id", trace(message.headers())));
    }
    return el("section", el("h2", "Details"), el("dl", facts));
  }

  private static @Nullable Html fact(String name, @Nullable String value) {
    return value == null ? null : all(el("dt", name), el("dd", foreign(value)));
  }

  /** Of a W3C trace context. */
  private static @Nullable String trace(List<Header> headers) {
    return headers.stream()
        .filter(header -> header.name().equals("traceparent"))
        .map(header -> TRACE.matcher(header.value()))
        .filter(Matcher::matches)
        .map(matcher -> matcher.group(1))
        .findFirst()
        .orElse(null);
  }

  private @Nullable Html headers() {
    return message == null || message.headers().isEmpty()
        ? null
        : el(
            "section",
            el("h2", "Headers"),
            Tables.table(
                "Headers",
                List.of("Name", "Value"),
                message.headers().stream()
                    .map(header -> Row.of(foreign(header.name()), foreign(header.value())))
                    .toList()));
  }

  private @Nullable Html payload() {
    return message == null
        ? null
        : el(
            "section",
            el("h2", "Payload"),
            el(
                "p",
                size(message),
                ". ",
                link(Link.to("payload").with("sequence", listed.sequence()), "Show the payload")));
  }
}
