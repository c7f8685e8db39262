package dev.outbox.ui;

import static dev.outbox.ui.Html.all;
import static dev.outbox.ui.Html.el;
import static dev.outbox.ui.Html.foreign;
import static dev.outbox.ui.Html.link;

import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * How an outbox does, as the first page shows it.
 *
 * @param mood also a class of the style sheet, in small letters
 * @param verdict goes on after "oldest free message, …"
 * @param reasons why, and what to do
 */
record Health(Severity mood, String verdict, List<Html> reasons) {
  private static final Map<String, Link> PAGES =
      Map.of(
          Diagnosis.HALTED_KEY,
          Link.to("keys").with("halted", "yes"),
          Diagnosis.FAILED_KEY,
          Link.to("keys"),
          Diagnosis.DEAD_LETTERS,
          Link.to("dead-letters"));

  /**
   * @param mask keeps secrets out
   */
  static Health of(Diagnosis diagnosis, UnaryOperator<String> mask) {
    Finding delivery = diagnosis.delivery();
    List<Finding> wrong =
        diagnosis.findings().stream()
            .filter(one -> !one.isFine() && (one != delivery || one.remedy() != null))
            .toList();
    return new Health(
        wrong.isEmpty() || delivery.severity() == Severity.PROBLEM
            ? delivery.severity()
            : Severity.WARNING,
        delivery.sentence(),
        wrong.stream().map(one -> reason(one, mask)).toList());
  }

  private static Html reason(Finding one, UnaryOperator<String> mask) {
    Link page = PAGES.get(one.what());
    return all(
        page == null ? one.what() : link(page, one.what()),
        ": ",
        foreign(mask.apply(one.sentence())),
        one.remedy() == null ? null : all(". ", el("em", foreign(mask.apply(one.remedy())))));
  }
}
