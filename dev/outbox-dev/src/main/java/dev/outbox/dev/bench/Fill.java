package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.dev.bench.BenchDatabase.Access;
import dev.outbox.dev.bench.BenchDatabase.Load;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.bench.Throughput.Round;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import java.util.function.Function;

/**
 * A round that fills empty tables and drains all of it.
 *
 * @param side whose tables, also where it is compared with another of that side
 */
record Fill(BenchDatabase<?> database, Side side, Load load, Draining draining) implements Round {
  interface Draining {
    Pace of(Access<?> access) throws InterruptedException;
  }

  /** By a relay with so many workers. */
  static Fill ours(BenchDatabase<?> database, Load load, int workers) {
    return byRelay(database, load, workers, Access::store, Drain.NO_OP);
  }

  /** By a relay whose store keeps an archive, and whose publisher answers as Kafka does. */
  static Fill archived(BenchDatabase<?> database, Load load, int workers, Archive archive) {
    return byRelay(database, load, workers, access -> access.store(archive), Drain.ANSWERING);
  }

  private static Fill byRelay(
      BenchDatabase<?> database,
      Load load,
      int workers,
      Function<Access<?>, OutboxStore<?>> store,
      MessagePublisher publisher) {
    return new Fill(
        database,
        Side.OURS,
        load,
        access ->
            Drain.relay(
                store.apply(access), load.messages(), publisher, relay -> relay.workers(workers)));
  }

  /** By the limit's loop. */
  static Fill limit(BenchDatabase<?> database, Load load, int workers) {
    return new Fill(
        database, Side.LIMIT, load, access -> Drain.limit(access, workers, load.messages()));
  }

  @Override
  public void prepare() {
    refill(database, side, load);
  }

  /**
   * The checkpoint comes before the fill: the pages are then in the log already, as those of
   * messages that live for seconds are.
   */
  static void refill(BenchDatabase<?> database, Side side, Load load) {
    database.empty(side);
    database.checkpoint();
    database.fill(side, load);
    database.tidy(side);
  }

  @Override
  public Pace run(Access<?> access) throws InterruptedException {
    return draining.of(access);
  }

  @Override
  public Side tables(Side compared) {
    return side;
  }
}
