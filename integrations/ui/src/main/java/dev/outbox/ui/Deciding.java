package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.ui.Tables.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Requeues or discards dead letters, or cancels a message: first shows what would happen, then does
 * it.
 */
final class Deciding {
  /** What is held while a transaction lasts, others may have to wait for. */
  private static final int IN_A_TRANSACTION = 100;

  /** What is left then, the same again does. */
  private static final Duration MOST_TIME = Duration.ofSeconds(20);

  enum Action {
    REQUEUE("requeued", Status.DEAD),
    DISCARD("discarded", Status.DEAD),
    CANCEL("cancelled", Status.SCHEDULED);

    private final String done;
    private final Status about;

    Action(String done, Status about) {
      this.done = done;
      this.about = about;
    }

    /** Where it is about what is listed, and what came of it is said. */
    private Link list() {
      return Link.to(about == Status.DEAD ? "dead-letters" : "messages");
    }

    private String subject() {
      return about == Status.DEAD ? "dead letter" : "message";
    }

    String path() {
      return name().toLowerCase(Locale.ROOT);
    }

    String verb() {
      return name().charAt(0) + path().substring(1);
    }
  }

  /** Those that are there, the oldest first. */
  static final class Found {
    final List<Long> sequences = new ArrayList<>();
    final Map<String, Integer> kinds = new TreeMap<>();
    private int halting;
    private boolean more;

    int count() {
      return sequences.size();
    }

    void add(Listed letter) {
      sequences.add(letter.sequence());
      kinds.merge(MessageList.kind(letter), 1, Integer::sum);
      halting += letter.haltsKey() ? 1 : 0;
    }
  }

  private final Source source;
  private final DeadLetterStore letters;
  private final FormTokens tokens;
  private final Action action;
  private final PageRequest request;
  private final Form form;
  private final Selection selection;

  Deciding(Source source, FormTokens tokens, Action action, PageRequest request) {
    this.source = source;
    this.letters = Source.allowed(source.letters());
    this.tokens = tokens;
    this.action = action;
    this.request = request;
    this.form = new Form(source, request);
    this.selection = Selection.of(request);
  }

  /** Where to decide about these, so many, when that is allowed. */
  static @Nullable Html links(Source source, Status status, Selection selection, int count) {
    return source.letters() == null
        ? null
        : el(
            "p",
            css("decide"),
            Stream.of(Action.values())
                .filter(action -> action.about == status)
                .map(
                    action ->
                        link(
                            selection.to(action.path()),
                            css("button"),
                            action.verb(),
                            selection.isAll() ? " all" : null,
                            count == 1 ? null : " " + Words.number(count),
                            "…"))
                .toList());
  }

  /** What has just been done, as the address says. */
  static @Nullable Html done(PageRequest request) {
    for (Action action : Action.values()) {
      Long count = request.number(action.done);
      if (count != null) {
        return el(
            "p",
            css("done"),
            at("role", "status"),
            count == 0 && action == Action.CANCEL
                ? "Too late: it is due, or it is gone."
                : all(Words.number(count), " ", action.done, "."));
      }
    }
    return null;
  }

  /** What would happen, or what came of it. */
  PageResponse answer(@Nullable String place) {
    if (request.isPost()) {
      tokens.require(request, subject());
    }
    Found found = find();
    String title = action.verb() + " " + Words.count(found.count(), action.subject());
    String missing = request.isPost() ? missing(found) : "";
    if (missing == null) {
      return PageResponse.seeOther(action.list().with(action.done, decide(found)));
    }
    return Frame.page(
        200,
        action.path(),
        place,
        title,
        found.sequences.isEmpty()
            ? el("p", "There are none any more. ", link(action.list(), "Back"))
            : all(
                missing.isEmpty() ? null : el("p", css("notice"), at("role", "alert"), missing),
                summary(found),
                form(found, title)));
  }

  /** Why it is not done yet; null: it can be. */
  private @Nullable String missing(Found found) {
    if (found.sequences.isEmpty()) {
      return null;
    }
    String seen = request.text("seen");
    if (seen == null || !FormTokens.areEqual(seen, seen(found))) {
      return "Meanwhile they are others than those that you have seen. Look again.";
    }
    if (action != Action.REQUEUE && request.text("sure") == null) {
      return "Say that they may be removed for good.";
    }
    return action == Action.DISCARD && found.halting > 0 && request.text("halting") == null
        ? "Some of them halt their keys: the later messages of these keys will go on without them."
            + " Say that this is meant."
        : null;
  }

  private String subject() {
    return action.path() + "\0" + selection;
  }

  /** Says which letters were shown, so that nobody decides about others. */
  private String seen(Found found) {
    return tokens.of(subject() + "\0" + found.sequences);
  }

  private Found find() {
    Found found = new Found();
    if (selection.sequence() == null) {
      if (action == Action.CANCEL) {
        throw new Refusal(400, "Say which message: sequence is missing.");
      }
      found.more =
          Selection.read(
              source.messages(),
              letter -> {
                if (selection.includes(source.masked(letter.error()))) {
                  found.add(letter);
                }
              });
    } else {
      Listed one = OneMessage.find(source, selection.sequence()).listed();
      if (one.status() == action.about) {
        found.add(one);
      }
    }
    return found;
  }

  private Html summary(Found found) {
    return all(
        selection.group() == null
            ? null
            : el("p", "Error: ", el("span", css("error"), foreign(selection.group()))),
        Tables.table(
            "What this is about",
            List.of("Event", action.about == Status.DEAD ? "Dead letters" : "Messages"),
            found.kinds.entrySet().stream()
                .map(one -> Row.of(foreign(one.getKey()), Words.number(one.getValue())))
                .toList()),
        found.more ? el("p", DeadLetters.beyond()) : null,
        el(
            "p",
            action == Action.REQUEUE
                ? "They will be due again, at their places, with no failed tries."
                : "They will be removed for good, without being published."),
        action == Action.REQUEUE || found.halting == 0
            ? null
            : el("p", css("notice"), Words.number(found.halting), " of them halt their keys."));
  }

  private Html form(Found found, String title) {
    return Form.to(
        action.path(),
        Form.hidden("sequence", selection.sequence()),
        Form.hidden("group", selection.group()),
        Form.hidden("seen", seen(found)),
        Form.hidden("token", tokens.of(subject())),
        !source.hasAudit()
            ? el(
                "p",
                css("muted"),
                "This outbox keeps no archive, so nobody writes down who decided.")
            : form.person(),
        action == Action.REQUEUE ? null : form.check("sure", "Remove them for good"),
        action == Action.DISCARD && found.halting > 0 && request.isPost()
            ? form.check("halting", "Let the later messages of the halted keys go on without them")
            : null,
        el("p", el("button", title), " ", link(action.list(), "Back")));
  }

  /** Does it, some in each transaction; returns how many were there. */
  private int decide(Found found) {
    Who who = source.hasAudit() ? form.who() : null;
    Instant end = source.clock().instant().plus(MOST_TIME);
    int done = 0;
    try {
      for (int from = 0; from < found.sequences.size(); from += IN_A_TRANSACTION) {
        if (source.clock().instant().isAfter(end)) {
          break; // what is left is still on the page that comes next
        }
        int to = Math.min(from + IN_A_TRANSACTION, found.sequences.size());
        done += decide(Set.copyOf(found.sequences.subList(from, to)), who).size();
      }
    } catch (RuntimeException e) {
      throw new Refusal(
          503,
          "%s %s before this: %s The same again goes on with the others."
              .formatted(Words.number(done), action.done, source.masked(e.getMessage())));
    }
    return done;
  }

  private Set<Long> decide(Set<Long> some, @Nullable Who who) {
    return switch (action) {
      case REQUEUE -> letters.requeue(some, who);
      case DISCARD -> letters.discard(some, who);
      case CANCEL -> letters.cancel(some, who);
    };
  }
}
