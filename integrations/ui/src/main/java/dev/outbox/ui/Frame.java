package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.css;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is around every page. */
final class Frame {
  private static final String ICON =
      "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath"
          + " fill='%232f6fd0' d='M1 2h14v12H1z'/%3E%3Cpath fill='%23fff' d='M3 9h3l1 2h2l1-2h3v3H3z"
          + "M7 4h2v2h2L8 9 5 6h2z'/%3E%3C/svg%3E";

  private static final List<Map.Entry<String, String>> PAGES =
      List.of(
          Map.entry("", "Overview"),
          Map.entry("messages", "Messages"),
          Map.entry("dead-letters", "Dead letters"),
          Map.entry("keys", "Keys"));

  private Frame() {}

  /**
   * A page.
   *
   * @param path of the page
   * @param place where the outbox is; null: not known
   */
  static PageResponse page(
      int status, String path, @Nullable String place, String title, Html content) {
    Html page =
        el(
            "html",
            at("lang", "en"),
            head(title),
            el(
                "body",
                el("a", css("skip"), at("href", "#main"), "To the content"),
                el("header", el("p", css("brand"), "Outbox", place(place)), pages(path)),
                el(
                    "p",
                    at("id", "stale"),
                    at("role", "alert"),
                    at("hidden", true),
                    "What you see is old: the last try to renew it has failed."),
                el(
                    "main",
                    at("id", "main"),
                    el("h1", css(path.isEmpty() ? "unseen" : "title"), title),
                    content)));
    return PageResponse.of(status, "text/html", "<!doctype html>\n" + page);
  }

  /** A part that renews itself. */
  static Html live(String id, @Nullable Object... content) {
    return el("div", at("id", id), at("data-live", true), all(content));
  }

  private static Html head(String title) {
    return el(
        "head",
        el("meta", at("charset", "utf-8")),
        el("meta", at("name", "viewport"), at("content", "width=device-width, initial-scale=1")),
        el("title", title, " · Outbox"),
        el("link", at("rel", "icon"), at("href", ICON)),
        el("link", at("rel", "stylesheet"), at("href", "style.css")),
        el("script", at("src", "page.js"), at("defer", true)));
  }

  private static @Nullable Html place(@Nullable String place) {
    return place == null ? null : el("span", css("muted"), " ", foreign(place));
  }

  private static Html pages(String current) {
    return el(
        "nav",
        at("aria-label", "Pages"),
        el(
            "ul",
            PAGES.stream()
                .map(
                    page ->
                        el(
                            "li",
                            link(
                                Link.to(page.getKey()),
                                at("aria-current", page.getKey().equals(current) ? "page" : null),
                                page.getValue())))
                .toList()));
  }
}
