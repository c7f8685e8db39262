package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.ui.Deciding.Found;
import dev.outbox.ui.Tables.Row;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Dead letters by error. */
final class DeadLetters {
  /** The most event types that are named of a group. */
  private static final int MOST_KINDS = 3;

  private DeadLetters() {}

  static Html of(Source source, PageRequest request) {
    Map<String, Found> groups = new HashMap<>();
    boolean more =
        Selection.read(
            source.messages(),
            letter ->
                groups
                    .computeIfAbsent(
                        Selection.group(source.masked(letter.error())), name -> new Found())
                    .add(letter));
    int count = groups.values().stream().mapToInt(Found::count).sum();
    return all(
        Deciding.done(request),
        Frame.live(
            "list",
            count == 0
                ? el("p", "There are none.")
                : all(
                    el(
                        "p",
                        Words.count(count, "dead letter"),
                        ", by error.",
                        more ? beyond() : null),
                    table(source, groups),
                    groups.size() > 1
                        ? Deciding.links(source, Status.DEAD, new Selection(null, null), count)
                        : null)));
  }

  static Html beyond() {
    return all(
        " These are the oldest ",
        Words.number(InspectionStore.MOST_READ),
        "; there are more behind them.");
  }

  private static Html table(Source source, Map<String, Found> groups) {
    return Tables.table(
        "Dead letters by error",
        List.of("Error", "Letters", "Events", "Oldest", "Decision"),
        groups.entrySet().stream()
            .sorted(
                Comparator.<Map.Entry<String, Found>>comparingInt(one -> -one.getValue().count())
                    .thenComparing(Map.Entry::getKey))
            .map(one -> row(source, one.getKey(), one.getValue()))
            .toList());
  }

  private static Row row(Source source, String name, Found group) {
    return Row.of(
        el("div", css("error"), foreign(name)),
        link(
            MessageList.of(Status.DEAD).with("error", Selection.common(name)),
            Words.number(group.count())),
        kinds(group.kinds.keySet()),
        link(Link.message(group.sequences.get(0)), group.sequences.get(0)),
        source.letters() == null ? "not allowed here" : decisions(source, name, group));
  }

  private static @Nullable Html decisions(Source source, String name, Found group) {
    return Deciding.links(
        source,
        Status.DEAD,
        group.count() == 1 ? Selection.one(group.sequences.get(0)) : new Selection(null, name),
        group.count());
  }

  private static Html kinds(Set<String> kinds) {
    return all(
        foreign(kinds.stream().limit(MOST_KINDS).collect(Collectors.joining(", "))),
        kinds.size() > MOST_KINDS ? " and others" : null);
  }
}
