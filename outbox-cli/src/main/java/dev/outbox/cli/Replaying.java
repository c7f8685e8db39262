package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A replay, page by page, each in a transaction. Where it is cut short, between two pages or in
 * one, it prints how to go on without publishing anything twice.
 *
 * <p>Replayed messages that are delivered meanwhile are not replayed in turn: they leave after the
 * end of the search, which is before now. As this clock may be ahead of the database's, no more
 * messages are replayed than were counted.
 */
final class Replaying extends Steps {
  /** Messages a page. All payloads of a page are in memory, and each may be large. */
  static final int PAGE = 100;

  private static final Outcome USUAL = Outcome.DELIVERED;

  private final ArchiveStore store;
  private final Who by;
  private final PrintWriter out;
  private final Outcome outcome;
  private final Map<Outcome, Long> counts;

  /** The search for what is left. */
  private volatile Search search;

  private volatile List<Archived> page = List.of();
  private volatile long count;

  private Replaying(
      ArchiveStore store,
      Search search,
      Who by,
      PrintWriter out,
      Outcome outcome,
      Map<Outcome, Long> counts) {
    this.store = store;
    this.search = search;
    this.by = by;
    this.out = out;
    this.outcome = outcome;
    this.counts = counts;
  }

  /**
   * Counts what there is to replay, and publishes nothing yet.
   *
   * @param search with an outcome, or those that were delivered are replayed
   * @throws Failure when one of them cannot be replayed
   */
  static Replaying of(ArchiveStore store, Search search, Who by, PrintWriter out) {
    Outcome outcome = search.outcome() == null ? USUAL : search.outcome();
    Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);
    Search rest = search;
    List<Archived> page = store.archived(rest, PAGE);
    while (!page.isEmpty()) {
      for (Archived one : page) {
        counts.merge(one.outcome(), 1L, Long::sum);
        if (one.outcome() == outcome) {
          requireReplayable(one);
        }
      }
      rest = behind(rest, page);
      page = store.archived(rest, PAGE);
    }
    return new Replaying(store, search.outcome(outcome), by, out, outcome, counts);
  }

  private static void requireReplayable(Archived one) {
    try {
      var unused = one.again();
    } catch (IllegalArgumentException e) {
      throw new Failure(
          "%s; nothing was replayed, search for what is before it or --after %s"
              .formatted(e.getMessage(), one.position()),
          e);
    }
  }

  static Search behind(Search search, List<Archived> page) {
    return search.after(page.get(page.size() - 1).position());
  }

  /** The options of the command that goes on; they do not depend on when it is run. */
  static String goOn(Search search) {
    String options = "--from %s --to %s".formatted(search.from(), search.to());
    return search.after() == null ? options : options + " --after " + search.after();
  }

  private long most() {
    return counts.getOrDefault(outcome, 0L);
  }

  boolean isEmpty() {
    return most() == 0;
  }

  void printCounts() {
    out.printf(
        "%s messages left from %s to %s: %s.%n", most(), search.from(), search.to(), outcome);
    counts.forEach(
        (other, number) -> {
          if (other != outcome) {
            out.printf(
                "%s more left %s, and are not replayed: --outcome=%s takes those.%n",
                number, other, other.name().toLowerCase(Locale.ROOT));
          }
        });
  }

  void run() {
    if (doAll()) {
      out.printf("%s replayed.%n", count);
    }
  }

  @Override
  boolean next() {
    page = List.of();
    int most = (int) Math.min(PAGE, most() - count);
    List<Archived> found = most > 0 ? store.archived(search, most) : List.of();
    if (found.isEmpty()) {
      return false;
    }
    page = found;
    var unused = store.replay(found, by);
    count += found.size();
    search = behind(search, found);
    page = List.of();
    return true;
  }

  @Override
  void cutShort(boolean inDoubt) {
    out.printf("%s replayed before this.%n", count);
    if (inDoubt && !page.isEmpty()) {
      out.printf(
          "The next %s may have been, too, up to %s: the audit has the last of them then.%n",
          page.size(), page.get(page.size() - 1).position());
    }
    out.println("Go on with: " + goOn(search));
    out.flush();
  }
}
