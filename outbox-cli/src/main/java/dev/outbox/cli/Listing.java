package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How much of a list is printed, and how. */
final class Listing {
  @Option(
      names = "--limit",
      defaultValue = "50",
      converter = AtLeastOne.class,
      description = "How many at most; default: ${DEFAULT-VALUE}.")
  private int limit;

  @Option(
      names = "--after",
      paramLabel = "PLACE",
      description = "Go on behind this place, as an earlier command has said.")
  private @Nullable String after;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  /** Of what nobody wants nothing. */
  static final class AtLeastOne implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      if (!text.matches("0*[1-9]\\d{0,9}") || Long.parseLong(text) > Integer.MAX_VALUE) {
        throw new TypeConversionException("'%s' is no whole number from 1 on".formatted(text));
      }
      return Integer.valueOf(text);
    }
  }

  private static final String MESSAGES =
      "%19s  %-9s %-27s %8s  %s"
          .formatted("sequence", "status", "appended", "attempts", "message, error");

  /** Reads messages, and prints them. */
  int print(Source<Listed> source, String nothing, PrintWriter out) {
    return print(source, nothing, MESSAGES, Listing::print, out);
  }

  private static void print(Listed one, PrintWriter out) {
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
      out.printf("%70s%s%n", "", oneLine(one.error()));
    }
  }

  /** Reads a page. */
  interface Source<E> {
    Page<E> page(@Nullable String after, int limit);
  }

  /**
   * Reads, and prints what was found.
   *
   * @param nothing where nothing was found
   * @param print a line of each, or some
   */
  <E extends Record> int print(
      Source<E> source,
      String nothing,
      String header,
      BiConsumer<E, PrintWriter> print,
      PrintWriter out) {
    Page<E> page = read(source, after, limit);
    if (json) {
      Map<String, @Nullable Object> all = new LinkedHashMap<>();
      all.put("found", page.found().stream().map(Listing::json).toList());
      all.put("next", page.next());
      out.println(Json.of(all));
      return 0;
    }
    out.println(page.found().isEmpty() ? nothing : header);
    page.found().forEach(one -> print.accept(one, out));
    if (page.next() != null) {
      out.println("There may be more: --after " + page.next());
    }
    return 0;
  }

  private static Map<String, @Nullable Object> json(Record one) {
    Map<String, @Nullable Object> fields = Json.fields(one);
    fields.computeIfPresent("error", (name, error) -> Secrets.mask(error.toString()));
    return fields;
  }

  /** Page after page, until there are enough: what is looked for may be far behind. */
  static <E> Page<E> read(Source<E> source, @Nullable String after, int limit) {
    List<E> found = new ArrayList<>();
    String next = after;
    do {
      Page<E> page = page(source, next, limit - found.size());
      found.addAll(page.found());
      next = page.next();
    } while (next != null && found.size() < limit);
    return new Page<>(found, next);
  }

  private static <E> Page<E> page(Source<E> source, @Nullable String after, int limit) {
    return Failure.whereRefused("--after: ", () -> source.page(after, limit));
  }

  /** All that there is, of pages of this size. */
  static <E> void forEach(Source<E> source, int size, Consumer<E> each) {
    String next = null;
    do {
      Page<E> page = source.page(next, size);
      page.found().forEach(each);
      next = page.next();
    } while (next != null);
  }

  /** An error, or another text that others have chosen, in one line. */
  static String oneLine(@Nullable String text) {
    return text == null ? "-" : Secrets.mask(Texts.printable(text.replaceAll("\\s*\\R\\s*", " ")));
  }
}
