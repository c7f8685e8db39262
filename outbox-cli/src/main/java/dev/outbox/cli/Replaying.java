package dev.outbox.cli;

import dev.outbox.TransientOutboxException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A replay, page by page, each in a transaction. Where it is cut short, it prints how to go on
 * without publishing anything twice.
 *
 * <p>Replayed messages that are delivered meanwhile are not replayed in turn: they leave after the
 * end of the search, which is before now. As this clock may be ahead of the database's, no more
 * messages are replayed than were counted.
 */
final class Replaying {
  /** Messages a page. All payloads of a page are in memory, and each may be large. */
  static final int PAGE = 100;

  /** How long the end of the program waits for the page that is being replayed. */
  private static final int PATIENCE_SECONDS = 10;

  private static final Outcome USUAL = Outcome.DELIVERED;

  private final ArchiveStore store;
  private final Who by;
  private final PrintWriter out;
  private final Outcome outcome;
  private final Map<Outcome, Long> counts = new EnumMap<>(Outcome.class);

  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  private volatile boolean stopped;

  /** The search for what is left. */
  private Search search;

  private long count;

  /**
   * Counts what there is to replay, and publishes nothing yet.
   *
   * @param search with an outcome, or those that were delivered are replayed
   * @throws Failure when one of them cannot be replayed
   */
  Replaying(ArchiveStore store, Search search, Who by, PrintWriter out) {
    this.store = store;
    this.by = by;
    this.out = out;
    outcome = search.outcome() == null ? USUAL : search.outcome();
    this.search = search.outcome(outcome);
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

  /** The options that find what is left of a search, whenever they are given. */
  static String goOn(Search rest) {
    return "--from=%s --to=%s%s"
        .formatted(rest.from(), rest.to(), rest.after() == null ? "" : " --after=" + rest.after());
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

  /** Replays them. Where Ctrl-C or a failure cuts it short, it says how to go on. */
  void run() {
    try (Cleanup ignored = Cleanup.atEnd(this::stop)) {
      boolean more = true;
      try {
        while (more && !stopped) {
          more = next();
        }
      } finally {
        out.printf("%s replayed.%n", count);
        if (more) {
          out.println("Go on with: " + goOn(search));
        }
        ended.complete(true);
      }
    }
  }

  /** Ends it behind the page that is being replayed, for which it waits a while. */
  void stop() {
    stopped = true;
    if (!ended.completeOnTimeout(false, PATIENCE_SECONDS, TimeUnit.SECONDS).join()) {
      out.println(
          "A page is still being replayed. Look into the audit whether it was, before you go on.");
      out.flush();
    }
  }

  /** Replays a page, if there is one; false when nothing is left. */
  private boolean next() {
    int most = (int) Math.min(PAGE, most() - count);
    List<Archived> page = most > 0 ? store.archived(search, most) : List.of();
    if (page.isEmpty()) {
      return false;
    }
    Search rest = behind(search, page);
    try {
      var unused = Failure.whereRefused("", () -> store.replay(page, by)); // changed since counted
    } catch (TransientOutboxException e) {
      out.printf(
          "It is not known whether the next %s, up to %s, were replayed, too. If the audit has the last of them, go on with that --after.%n",
          page.size(), rest.after());
      throw e;
    }
    search = rest;
    count += page.size();
    if (count == most()) {
      return false;
    }
    out.printf("%s of %s replayed, up to %s%n", count, most(), search.after());
    return true;
  }
}
