package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Pauses and resumes: first asks who and why, then does it. */
final class Pausing {
  private static final String PAUSE = "pause";
  private static final String RESUME = "resume";
  static final Set<String> PATHS = Set.of(PAUSE, RESUME);

  private final PauseStore store;
  private final FormTokens tokens;
  private final PageRequest request;
  private final Form form;

  /** Null: all. */
  private final @Nullable String type;

  Pausing(Source source, FormTokens tokens, PageRequest request) {
    this.store = Source.allowed(source.pauses());
    this.tokens = tokens;
    this.request = request;
    this.form = new Form(source, request);
    this.type = request.text("type");
    if (request.isBlank("type")) {
      throw new Refusal(400, "the aggregate type is blank: leave it empty to pause all messages");
    }
  }

  /** What is paused, and where to change that, when that is allowed. */
  static @Nullable Html links(Source source, List<Pause> pauses) {
    return source.pauses() == null
        ? null
        : el(
            "section",
            el("h2", "Pauses"),
            pauses.stream()
                .map(
                    pause ->
                        el(
                            "p",
                            css("decide"),
                            foreign(source.masked(pause.sentence())),
                            " ",
                            button(Link.to(RESUME).with("type", pause.aggregateType()), "Resume…")))
                .toList(),
            el("p", css("decide"), button(Link.to(PAUSE), "Pause…")));
  }

  private static Html button(Link to, String label) {
    return link(to, css("button"), label);
  }

  private boolean resumes() {
    return request.path().equals(RESUME);
  }

  /** Who says so may pause any type, and end the one pause that was asked about. */
  private String subject() {
    return resumes() ? RESUME + "\0" + type : PAUSE;
  }

  /** The question, or what came of the answer. */
  PageResponse answer(@Nullable String place) {
    if (request.isPost()) {
      tokens.require(request, subject());
      if (decide()) {
        return PageResponse.seeOther(Link.HOME);
      }
    }
    String title =
        resumes() ? "Resume " + (type == null ? "all messages" : type) : "Pause messages";
    return Frame.page(
        200,
        request.path(),
        place,
        title,
        all(
            request.isPost()
                ? el("p", css("notice"), at("role", "alert"), "There is no such pause any more.")
                : null,
            Form.to(
                request.path(),
                Form.hidden("token", tokens.of(subject())),
                resumes()
                    ? Form.hidden("type", type)
                    : form.field("type", "Aggregate type; empty: all messages", ""),
                form.person(),
                el("p", el("button", title), " ", link(Link.HOME, "Back")))));
  }

  private boolean decide() {
    if (resumes()) {
      return store.resume(type, form.who());
    }
    store.pause(type, form.who());
    return true;
  }
}
