package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.ui.Tables.Row;
import java.time.Instant;
import java.util.List;

/** Keys that wait, and behind what. */
final class KeyList {
  private static final int LIMIT = 50;

  private KeyList() {}

  static Html of(Source source, PageRequest request) {
    boolean halted = request.text("halted") != null;
    Link here = Link.to("keys").with("halted", request.text("halted"));
    Page<WaitingKey> page = source.messages().waitingKeys(halted, request.text("after"), LIMIT);
    return all(
        el(
            "p",
            halted
                ? all(
                    "Those that somebody has to decide about. ",
                    link(Link.to("keys"), "Show all that wait"))
                : link(Link.to("keys").with("halted", "yes"), "Show only those that are halted")),
        Tables.page(here, page, "No key waits.", keys -> table(source, keys)));
  }

  private static Html table(Source source, List<WaitingKey> keys) {
    Instant now = source.clock().instant();
    return Tables.table(
        "Keys that wait",
        List.of("Key", "Waits for", "Until", "Behind it", "Error"),
        keys.stream()
            .map(
                key ->
                    Row.of(
                        foreign(key.key()),
                        link(
                            Link.message(key.behind()),
                            key.halted() ? "dead letter " : "message ",
                            key.behind()),
                        key.retryAt() == null
                            ? "somebody decides"
                            : all("its next try ", Words.ago(key.retryAt(), now)),
                        waiting(key),
                        el("div", css("error"), foreign(source.masked(key.error())))))
            .toList());
  }

  /** How many messages wait behind it. */
  static String waiting(WaitingKey key) {
    return Words.count(key.waiting(), InspectionStore.MOST_BEHIND, "message");
  }
}
