package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How findings are printed. They may name what others have named, as an application. */
final class Findings {
  private Findings() {}

  private static String masked(String text) {
    return Texts.printable(Secrets.mask(text));
  }

  static void print(List<Finding> findings, PrintWriter out) {
    for (Finding one : findings) {
      out.println(
          one.isFine()
              ? "%-22s %s".formatted(one.what(), masked(one.sentence()))
              : "%s: %s: %s".formatted(one.severity(), one.what(), masked(one.sentence())));
      if (one.remedy() != null) {
        out.println("  " + masked(one.remedy()));
      }
    }
  }

  /** With the name of the database that they are of; empty: it is the only one. */
  static List<Finding> of(String database, List<Finding> findings) {
    return database.isEmpty()
        ? findings
        : findings.stream()
            .map(
                one ->
                    new Finding(
                        database + " " + one.what(), one.severity(), one.sentence(), one.remedy()))
            .toList();
  }

  /** Prints them, and gives the exit code: a problem is a check that failed. */
  static int report(List<Finding> findings, boolean json, PrintWriter out) {
    if (json) {
      out.println(Json.of(Map.of("findings", json(findings))));
    } else {
      print(findings, out);
    }
    return findings.stream().anyMatch(one -> one.severity() == Severity.PROBLEM)
        ? Main.CHECK_FAILED
        : 0;
  }

  static List<Map<String, @Nullable Object>> json(List<Finding> findings) {
    return findings.stream().map(Findings::json).toList();
  }

  private static Map<String, @Nullable Object> json(Finding one) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("what", one.what());
    fields.put("severity", one.severity().name().toLowerCase(Locale.ROOT));
    fields.put("sentence", masked(one.sentence()));
    fields.put("remedy", one.remedy() == null ? null : masked(one.remedy()));
    return fields;
  }
}
