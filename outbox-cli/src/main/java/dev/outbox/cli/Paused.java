package dev.outbox.cli;

import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.SchemaStore;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How what is paused is printed. */
final class Paused {
  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  /** An older schema has no place for it. */
  static void verify(PauseStore store) {
    if (store instanceof SchemaStore schema) {
      schema.verify();
    }
  }

  void print(PauseStore store, PrintWriter out) {
    List<Pause> pauses = store.pauses();
    if (json) {
      out.println(Json.of(Map.of("paused", pauses.stream().map(Paused::json).toList())));
    } else if (pauses.isEmpty()) {
      out.println("Nothing is paused.");
    } else {
      pauses.forEach(pause -> out.println(Listing.oneLine(pause.sentence())));
    }
  }

  private static Map<String, @Nullable Object> json(Pause pause) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("type", pause.aggregateType());
    fields.put("since", pause.since());
    fields.put("by", pause.who());
    fields.put("reason", pause.reason() == null ? null : Secrets.mask(pause.reason()));
    return fields;
  }
}
