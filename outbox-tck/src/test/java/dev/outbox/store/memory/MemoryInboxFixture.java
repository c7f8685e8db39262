package dev.outbox.store.memory;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.InboxStoreTck;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Retentions;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/** The suite over a memory inbox, with all that can be unlocked in memory. */
public abstract class MemoryInboxFixture extends InboxStoreTck<MemoryTransaction>
    implements AutoCommit<MemoryTransaction>,
        Retentions<MemoryTransaction>,
        MovesClock,
        LosesReplies {
  private Duration moved = Duration.ZERO;
  private final MemoryOutboxStore database =
      new MemoryOutboxStore(this::now, MemoryOutboxStore.DEFAULT_DEDUP_WINDOW);
  private final MemoryInboxStore usual = newStore(database, InboxStore.DEFAULT_RETENTION);
  private MemoryInboxStore store = usual;

  MemoryInboxStore newStore(MemoryOutboxStore beside, Duration retention) {
    return new MemoryInboxStore(beside, retention);
  }

  private Instant now() {
    return Instant.now().plus(moved);
  }

  @Override
  protected InboxStore<MemoryTransaction> createStore() {
    return store;
  }

  @Override
  public InboxStore<MemoryTransaction> createStore(Duration retention) {
    store = newStore(database, retention);
    return store;
  }

  @Override
  protected void inTransaction(Consumer<MemoryTransaction> work) {
    database.inTransaction(work);
  }

  @Override
  protected void reset() {
    moved = Duration.ZERO;
    usual.clear();
    store = usual;
  }

  @Override
  protected Duration shortTime() {
    return Duration.ofMillis(60);
  }

  @Override
  public void withoutTransaction(Consumer<MemoryTransaction> work) {
    MemoryTransaction ended = database.begin();
    ended.rollback();
    work.accept(ended);
  }

  /** What the inbox has answered is all that gets lost. */
  @Override
  public void losingTheReply(Runnable work) {
    work.run();
  }

  @Override
  public void moveClock(Duration by) {
    moved = moved.plus(by);
  }
}
