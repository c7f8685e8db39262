package dev.outbox.cli;

import static dev.outbox.cli.ArchiveCommand.PAGE;

import dev.outbox.TransientOutboxException;
import dev.outbox.cli.ArchiveCommand.Which;
import dev.outbox.spi.ArchiveStore;
import dev.outbox.spi.ArchiveStore.Archived;
import dev.outbox.spi.ArchiveStore.Outcome;
import dev.outbox.spi.ArchiveStore.Search;
import dev.outbox.spi.Who;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A replay, page by page, each in a transaction. Where it is cut short, between two pages or in
 * one, it prints how to go on without publishing anything twice.
 *
 * <p>Replays that are delivered meanwhile are not replayed in their turn: they leave after the end
 * of the search, which is before now. This clock may be ahead of the database's, so it is no more
 * than were counted, either.
 */
final class Replaying {
  private static final Outcome USUAL = Outcome.DELIVERED;

  /** How long the end of the program waits for the page that is being replayed. */
  private static final int PATIENCE_SECONDS = 10;

  private final ArchiveStore store;
  private final Who by;
  private final PrintWriter out;
  private final Outcome outcome;
  private final Map<Outcome, Long> counts;

  /** Held while a page is replayed. */
  private final ReentrantLock replaying = new ReentrantLock();

  /** What is left. */
  private volatile Search search;

  private volatile List<Archived> page = List.of();
  private volatile long count;
  private volatile boolean stopped;
  private volatile boolean over;

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
      rest = ArchiveCommand.behind(rest, page);
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

  private long most() {
    return counts.getOrDefault(outcome, 0L);
  }

  boolean isEmpty() {
    return most() == 0;
  }

  void printCounts() {
    out.printf(
        "%d messages left from %s to %s: %s.%n", most(), search.from(), search.to(), outcome);
    counts.forEach(
        (other, number) -> {
          if (other != outcome) {
            out.printf(
                "%d more left %s, and are not replayed: --outcome=%s takes those.%n",
                number, other, other.name().toLowerCase(Locale.ROOT));
          }
        });
  }

  void run() {
    while (!over) {
      replaying.lock();
      try {
        if (stopped) {
          return;
        }
        next();
      } catch (RuntimeException e) {
        cutShort(e instanceof TransientOutboxException);
        throw e instanceof IllegalArgumentException
            ? new Failure(String.valueOf(e.getMessage()), e)
            : e;
      } finally {
        replaying.unlock();
      }
    }
    out.printf("%d replayed.%n", count);
  }

  private void next() {
    page = List.of();
    int most = (int) Math.min(PAGE, most() - count);
    List<Archived> found = most > 0 ? store.archived(search, most) : List.of();
    if (found.isEmpty()) {
      over = true;
      return;
    }
    page = found;
    var unused = store.replay(found, by);
    count += found.size();
    search = ArchiveCommand.behind(search, found);
    page = List.of();
  }

  /** Ends it behind the page that is being replayed, and says where that is; from any thread. */
  void stop() {
    stopped = true;
    boolean between = false;
    try {
      between = replaying.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!over) {
      cutShort(!between);
    }
    if (between) {
      replaying.unlock();
    }
  }

  /**
   * @param inDoubt whether the page that was being replayed may have been
   */
  private void cutShort(boolean inDoubt) {
    over = true;
    out.printf("%d replayed before this.%n", count);
    if (inDoubt && !page.isEmpty()) {
      out.printf(
          "The next %d may have been, too, up to %s: the audit has the last of them then.%n",
          page.size(), page.get(page.size() - 1).position());
    }
    out.println("Go on with: " + Which.goOn(search));
    out.flush();
  }
}
