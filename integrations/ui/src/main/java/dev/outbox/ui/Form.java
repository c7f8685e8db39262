package dev.outbox.ui;

import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;

import dev.outbox.spi.store.ArchiveStore.Who;
import org.jspecify.annotations.Nullable;

/** The parts of a form, filled in as they came with a request, and who has sent it. */
record Form(Source source, PageRequest request) {

  /** The form of a decision. */
  static Html to(String path, @Nullable Object... content) {
    return el(
        "form",
        css("decision"),
        at("method", "post"),
        at("action", Link.to(path)),
        Html.all(content));
  }

  static @Nullable Html hidden(String name, @Nullable Object value) {
    return value == null
        ? null
        : el("input", at("type", "hidden"), at("name", name), at("value", value));
  }

  Html field(String name, String label, String otherwise) {
    String given = request.isPost() ? request.text(name) : null;
    return el(
        "label",
        label,
        el(
            "input",
            at("name", name),
            at("value", given == null ? otherwise : given),
            at("maxlength", Who.MAX_NAME)));
  }

  Html check(String name, String label) {
    return el(
        "label",
        css("check"),
        el(
            "input",
            at("type", "checkbox"),
            at("name", name),
            at("value", "yes"),
            at("required", true),
            at("checked", request.isPost() && request.text(name) != null)),
        label);
  }

  /** Where somebody says who it is, and why. */
  Html person() {
    return Html.all(field("by", "Your name", source.person()), field("why", "Reason", ""));
  }

  Who who() {
    String name = request.text("by");
    try {
      return new Who(name == null ? source.person() : name, request.text("why"));
    } catch (IllegalArgumentException e) {
      throw new Refusal(400, "Your name: " + e.getMessage());
    }
  }
}
