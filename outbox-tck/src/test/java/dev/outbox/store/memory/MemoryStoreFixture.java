package dev.outbox.store.memory;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.store.Archives;
import dev.outbox.tck.store.ClientClocks;
import dev.outbox.tck.store.DedupWindows;
import dev.outbox.tck.store.FindsPoison;
import dev.outbox.tck.store.OutboxStoreTck;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.RestartsSequences;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The suite over a memory store, with all that can be unlocked in memory but messages that expire.
 */
public abstract class MemoryStoreFixture extends OutboxStoreTck<MemoryTransaction>
    implements AutoCommit<MemoryTransaction>,
        RawRows<MemoryTransaction>,
        DedupWindows<MemoryTransaction>,
        MovesClock,
        LosesReplies,
        BreaksConnections,
        ClientClocks<MemoryTransaction>,
        RestartsSequences,
        Archives<MemoryTransaction>,
        FindsPoison {
  private Duration moved = Duration.ZERO;
  private MemoryOutboxStore store =
      newStore(this::now, MemoryOutboxStore.DEFAULT_DEDUP_WINDOW, Archive.NONE, null);

  MemoryOutboxStore newStore(
      InstantSource clock,
      Duration dedupWindow,
      Archive archive,
      @Nullable Duration deadLetterRetention) {
    return new MemoryOutboxStore(clock, dedupWindow, archive, deadLetterRetention);
  }

  private Instant now() {
    return Instant.now().plus(moved);
  }

  @Override
  protected OutboxStore<MemoryTransaction> createStore() {
    return store;
  }

  @Override
  public OutboxStore<MemoryTransaction> createStore(Duration dedupWindow) {
    store = newStore(this::now, dedupWindow, Archive.NONE, null);
    return store;
  }

  @Override
  public OutboxStore<MemoryTransaction> createStore(
      Archive archive, @Nullable Duration deadLetterRetention) {
    store =
        newStore(this::now, MemoryOutboxStore.DEFAULT_DEDUP_WINDOW, archive, deadLetterRetention);
    return store;
  }

  @Override
  protected void inTransaction(Consumer<MemoryTransaction> work) {
    store.inTransaction(work);
  }

  @Override
  protected void reset() {
    store.clear();
    moved = Duration.ZERO;
  }

  @Override
  protected Duration shortTime() {
    return Duration.ofMillis(60);
  }

  @Override
  public void withoutTransaction(Consumer<MemoryTransaction> work) {
    MemoryTransaction ended = store.begin();
    ended.rollback();
    work.accept(ended);
  }

  /** In memory a row by plain SQL is a message with nothing but what is required. */
  @Override
  public void insertRaw(MemoryTransaction transaction, RawRow row) {
    transaction.rows.add(
        store instanceof BrokenStores.Broken broken
            ? broken.rawRow(row)
            : store.newRow(row.message().key(), row.message()));
  }

  @Override
  public void insertUndecodable(MemoryTransaction transaction, RawRow row) {
    transaction.rows.add(store.newRow(row.message().key(), null));
  }

  /** What the store has answered is all that gets lost. */
  @Override
  public void losingTheReply(Runnable work) {
    work.run();
  }

  /** A store that is right changes all at once, so that only the first write can break. */
  @Override
  public boolean breakingAtWrite(int write, Runnable work) {
    if (write == 1) {
      return true;
    }
    if (!(store instanceof BrokenStores.Broken broken)) {
      work.run();
      return false;
    }
    broken.writesLeft = write;
    try {
      work.run();
    } catch (TransientOutboxException e) {
      return true;
    } finally {
      broken.writesLeft = 0;
    }
    return false;
  }

  /** A store that is right does not look at it. */
  @Override
  public OutboxStore<MemoryTransaction> createStore(Clock clientClock) {
    return store instanceof BrokenStores.Broken broken
        ? new ClientWithClock(broken, Duration.between(Instant.now(), clientClock.instant()))
        : store;
  }

  /** A client of the store on another machine. */
  private record ClientWithClock(BrokenStores.Broken store, Duration ahead)
      implements OutboxStore<MemoryTransaction> {

    @Override
    public Appended append(MemoryTransaction transaction, List<OutboxMessage> messages) {
      store.clientIsAhead = ahead;
      return store.append(transaction, messages);
    }

    @Override
    public Claim claim(Claim.Request request) {
      store.clientIsAhead = ahead;
      return store.claim(request);
    }
  }

  @Override
  public void restartSequences() {
    store.clear();
    store.lastSequence = 0;
  }

  @Override
  public void moveClock(Duration by) {
    moved = moved.plus(by);
  }
}
