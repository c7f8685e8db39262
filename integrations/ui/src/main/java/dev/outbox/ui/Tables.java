package dev.outbox.ui;

import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.el;

import dev.outbox.spi.store.InspectionStore.Page;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Tables, and what stands below them. */
final class Tables {
  private Tables() {}

  /** What is in the cells of a row; the first says which one it is. */
  record Row(List<@Nullable Object> cells) {
    static Row of(@Nullable Object... cells) {
      return new Row(Arrays.asList(cells));
    }
  }

  /**
   * A table. The roles say again what the elements are: a style sheet that makes blocks of cells,
   * for small screens, would take it away.
   *
   * @param caption read out; the heading above it says the same to those who see
   */
  static Html table(String caption, List<String> columns, List<Row> rows) {
    return el(
        "table",
        at("role", "table"),
        el("caption", caption),
        el(
            "thead",
            at("role", "rowgroup"),
            el("tr", at("role", "row"), columns.stream().map(Tables::head).toList())),
        el("tbody", at("role", "rowgroup"), rows.stream().map(row -> row(columns, row)).toList()));
  }

  private static Html head(String name) {
    return el("th", at("scope", "col"), at("role", "columnheader"), name);
  }

  private static Html row(List<String> columns, Row row) {
    List<Html> cells = new ArrayList<>();
    for (Object content : row.cells) {
      boolean isFirst = cells.isEmpty();
      cells.add(
          el(
              isFirst ? "th" : "td",
              at("scope", isFirst ? "row" : null),
              at("role", isFirst ? "rowheader" : "cell"),
              at("data-column", columns.get(cells.size())),
              content));
    }
    return el("tr", at("role", "row"), cells);
  }

  /**
   * A page of a list, and the way on when there is one.
   *
   * @param none where nothing is there
   */
  static <E> Html page(Link here, Page<E> page, String none, Function<List<E>, Html> table) {
    String next = page.next();
    return Frame.live(
        "list",
        page.found().isEmpty()
            ? el("p", next == null ? none : "None so far.")
            : table.apply(page.found()),
        next == null
            ? null
            : el("p", Html.link(here.with("after", next), Html.css("button"), "Next page")));
  }
}
