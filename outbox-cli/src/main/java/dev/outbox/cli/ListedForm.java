package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.InspectionStore.Listed;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Messages in a list.
 *
 * @param nothing where nothing was found
 */
record ListedForm(String nothing) implements Listing.Form<Listed> {

  @Override
  public String header() {
    return "%19s  %-9s %-27s %8s  %s"
        .formatted("sequence", "status", "appended", "attempts", "message, error");
  }

  @Override
  public void print(Listed one, PrintWriter out) {
    out.printf(
        "%19d  %-9s %-27s %8d  %s%s%s%n",
        one.sequence(),
        one.status(),
        one.appendedAt(),
        one.attempts(),
        what(one),
        one.expiresAt() == null ? "" : ", expires " + one.expiresAt(),
        one.haltsKey() ? ", halts its key" : "");
    if (one.error() != null) {
      out.printf("%70s%s%n", "", Listing.oneLine(one.error()));
    }
  }

  /** Event, key and id. */
  static String what(Listed one) {
    return Texts.printable(
        "%s of %s, id %s".formatted(String.valueOf(one.eventType()), one.key(), one.id()));
  }

  @Override
  public Map<String, @Nullable Object> json(Listed one) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("sequence", one.sequence());
    fields.put("id", one.id());
    fields.put("status", one.status());
    fields.put("key", one.key());
    fields.put("aggregateType", one.aggregateType());
    fields.put("eventType", one.eventType());
    fields.put("dedupKey", one.dedupKey());
    fields.put("attempts", one.attempts());
    fields.put("appendedAt", one.appendedAt());
    fields.put("dueAt", one.dueAt());
    fields.put("expiresAt", one.expiresAt());
    fields.put("error", one.error() == null ? null : Secrets.mask(one.error()));
    fields.put("failedAt", one.failedAt());
    fields.put("haltsKey", one.haltsKey());
    return fields;
  }
}
