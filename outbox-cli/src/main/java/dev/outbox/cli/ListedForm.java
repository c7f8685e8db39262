package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.InspectionStore.Listed;
import java.io.PrintWriter;

/** Messages in a list. */
final class ListedForm {
  static final String HEADER =
      "%19s  %-9s %-27s %8s  %s"
          .formatted("sequence", "status", "appended", "attempts", "message, error");

  private ListedForm() {}

  static void print(Listed one, PrintWriter out) {
    String what =
        Texts.printable(
            "%s of %s, id %s".formatted(String.valueOf(one.eventType()), one.key(), one.id()));
    out.printf(
        "%19s  %-9s %-27s %8s  %s%s%s%n",
        one.sequence(),
        one.status(),
        one.appendedAt(),
        one.attempts(),
        what,
        one.expiresAt() == null ? "" : ", expires " + one.expiresAt(),
        one.haltsKey() ? ", halts its key" : "");
    if (one.error() != null) {
      out.printf("%70s%s%n", "", Listing.oneLine(one.error()));
    }
  }
}
