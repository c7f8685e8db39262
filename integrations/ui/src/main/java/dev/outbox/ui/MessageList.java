package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.ui.Tables.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The list of messages, and its filters. */
final class MessageList {
  private static final int LIMIT = 50;

  private static final List<String> AGES = List.of("PT1M", "PT10M", "PT1H", "P1D");
  private static final List<String> AGES_IN_WORDS =
      List.of("1 minute", "10 minutes", "1 hour", "1 day");

  private MessageList() {}

  static Link of(Status status) {
    return Link.to("messages").with("status", name(status));
  }

  static String name(Status status) {
    return status.name().toLowerCase(Locale.ROOT);
  }

  static Html of(Source source, PageRequest request) {
    Instant now = source.clock().instant();
    Page<Listed> page = source.messages().messages(query(request, now));
    return all(
        Deciding.done(request),
        filters(request),
        Tables.page(here(request), page, "There are none.", found -> table(source, found, now)));
  }

  /** This list from its beginning. */
  private static Link here(PageRequest request) {
    Link here = Link.to("messages");
    for (String name : List.of("status", "type", "key", "event", "id", "dedup", "error", "older")) {
      here = here.with(name, request.text(name));
    }
    return here;
  }

  private static Query query(PageRequest request, Instant now) {
    return new Query(
        request.parsed("status", MessageList::status, "pending, scheduled, blocked or dead"),
        request.text("type"),
        request.text("key"),
        request.text("event"),
        request.parsed("id", UUID::fromString, "a UUID"),
        request.text("dedup"),
        request.text("error"),
        request.parsed("older", age -> now.minus(Duration.parse(age)), "a time as PT10M"),
        request.text("after"),
        LIMIT);
  }

  private static Status status(String name) {
    return Status.valueOf(name.toUpperCase(Locale.ROOT));
  }

  private static Html filters(PageRequest request) {
    return el(
        "form",
        css("filters"),
        at("action", "messages"),
        at("role", "search"),
        at("aria-label", "Filter the messages"),
        select(
            request,
            "status",
            "State",
            Stream.of(Status.values()).map(MessageList::name).toList(),
            List.of()),
        input(request, "type", "Aggregate type"),
        input(request, "event", "Event type"),
        input(request, "key", "Key"),
        input(request, "id", "Id"),
        input(request, "dedup", "Dedup key"),
        input(request, "error", "Error has"),
        select(request, "older", "Older than", AGES, AGES_IN_WORDS),
        el("button", "Filter"),
        link(Link.to("messages"), "Show all"));
  }

  private static Html input(PageRequest request, String name, String label) {
    return el(
        "label",
        label,
        el("input", at("name", name), at("value", request.text(name)), at("autocomplete", "off")));
  }

  private static Html select(
      PageRequest request, String name, String label, List<String> values, List<String> texts) {
    return el(
        "label",
        label,
        el(
            "select",
            at("name", name),
            el("option", at("value", ""), "any"),
            values.stream()
                .map(
                    value ->
                        el(
                            "option",
                            at("value", value),
                            at("selected", value.equals(request.text(name))),
                            texts.isEmpty() ? value : texts.get(values.indexOf(value))))
                .toList()));
  }

  private static Html table(Source source, List<Listed> found, Instant now) {
    return Tables.table(
        "Messages",
        List.of("Message", "State", "Key", "Event", "Failed tries", "Appended"),
        found.stream().map(message -> row(source, message, now)).toList());
  }

  private static Row row(Source source, Listed message, Instant now) {
    return Row.of(
        link(Link.message(message.sequence()), message.sequence()),
        state(message.status()),
        foreign(message.key()),
        all(foreign(kind(message)), error(source.masked(message.error()))),
        message.attempts(),
        Words.ago(message.appendedAt(), now));
  }

  static Html state(Status status) {
    return el("span", css("state " + name(status)), name(status));
  }

  /** The aggregate's type and the event's, as far as the row has them. */
  static String kind(Listed message) {
    List<String> types =
        Stream.of(message.aggregateType(), message.eventType()).filter(Objects::nonNull).toList();
    return types.isEmpty() ? "no type" : String.join(" · ", types);
  }

  /** The first line of an error. */
  private static @Nullable Html error(@Nullable String error) {
    return error == null
        ? null
        : el("div", css("error"), foreign(error.lines().findFirst().orElse("")));
  }
}
