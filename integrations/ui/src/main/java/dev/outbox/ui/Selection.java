package dev.outbox.ui;

import dev.outbox.Texts;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import java.util.Comparator;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which dead letters.
 *
 * @param sequence of the one that is meant; null: several
 * @param group those with this {@link #group(String)}; null: all
 */
record Selection(@Nullable Long sequence, @Nullable String group) {
  private static final int PAGE = 1_000;

  private static final String NONE = "(no error)";
  private static final String GAP = "…";

  /** What a group has in the place of something else: a gap, a mask, a character's code. */
  private static final Pattern REPLACED = Pattern.compile(GAP + "|\\*+|\\\\u[0-9a-f]{4}");

  /** A store may come to the end of what a page may read without having found anything. */
  private static final int MOST_PAGES = 20;

  private static final int MOST_OF_GROUP = 200;

  /** What differs between errors of one kind: ids and numbers. */
  private static final Pattern VARYING =
      Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\\d+([.,:]\\d+)*");

  static Selection one(long sequence) {
    return new Selection(sequence, null);
  }

  static Selection of(PageRequest request) {
    return new Selection(request.number("sequence"), request.text("group"));
  }

  boolean isAll() {
    return sequence == null && group == null;
  }

  Link to(String path) {
    return Link.to(path).with("sequence", sequence).with("group", group);
  }

  /** The first line of an error without what varies. */
  static String group(@Nullable String error) {
    String line = error == null ? "" : error.strip().lines().findFirst().orElse("");
    String group = Texts.printable(VARYING.matcher(line).replaceAll(GAP));
    return group.isEmpty()
        ? NONE
        : group.codePointCount(0, group.length()) > MOST_OF_GROUP
            ? group.substring(0, group.offsetByCodePoints(0, MOST_OF_GROUP))
            : group;
  }

  /** The longest text that all errors of a group have. */
  static @Nullable String common(String group) {
    return group.equals(NONE)
        ? null
        : REPLACED.splitAsStream(group).max(Comparator.comparing(String::length)).orElse(null);
  }

  /** Whether a dead letter with this error is meant, when several are. */
  boolean includes(@Nullable String error) {
    return group == null || group.equals(group(error));
  }

  /**
   * Reads dead letters, the oldest first, as many as are read for one page.
   *
   * @return whether there are more
   */
  static boolean read(InspectionStore store, Consumer<Listed> each) {
    Query dead = Query.first(Status.DEAD, PAGE);
    String after = null;
    int read = 0;
    int pages = 0;
    do {
      Page<Listed> page = store.messages(dead.after(after));
      page.found().forEach(each);
      read += page.found().size();
      pages++;
      after = page.next();
    } while (after != null && read < InspectionStore.MOST_READ && pages < MOST_PAGES);
    return after != null;
  }
}
