package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Round;
import java.util.List;

/** Rounds that fill empty tables and drain all of it. */
final class Fills {
  private Fills() {}

  /** By relays, one on each access, with so many workers each. */
  static Round ours(BenchDatabase database, Load load, int workers) {
    return new OfOurs(database, load) {
      @Override
      public Pace run(List<Access> accesses) throws InterruptedException {
        return Drain.relays(accesses, workers, load.messages());
      }
    };
  }

  /** By a relay whose store keeps an archive. */
  static Round archived(BenchDatabase database, Load load, int workers, Archive archive) {
    return new OfOurs(database, load) {
      @Override
      public Pace run(List<Access> accesses) throws InterruptedException {
        return Drain.archived(accesses.get(0), workers, load.messages(), archive);
      }
    };
  }

  /** Of the outbox's tables, also where that is beside another of ours. */
  private abstract static class OfOurs implements Round {
    private final BenchDatabase database;
    private final Load load;

    OfOurs(BenchDatabase database, Load load) {
      this.database = database;
      this.load = load;
    }

    @Override
    public void prepare() {
      refill(database, Side.OURS, load);
    }

    @Override
    public Side tables(Side side) {
      return Side.OURS;
    }
  }

  /** By the limit's loop. */
  static Round limit(BenchDatabase database, Load load, int workers) {
    return new Round() {
      @Override
      public void prepare() {
        refill(database, Side.LIMIT, load);
      }

      @Override
      public Pace run(List<Access> accesses) throws InterruptedException {
        return Drain.limit(accesses, workers, load.messages());
      }
    };
  }

  /**
   * The checkpoint comes before the fill: the pages are then in the log already, as those of
   * messages that live for seconds are.
   */
  static void refill(BenchDatabase database, Side side, Load load) {
    database.empty(side);
    database.checkpoint();
    database.fill(side, load);
    database.tidy(side);
  }
}
