package dev.outbox.store.core.internal;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.core.internal.MapDatabase.Producer;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.store.DedupWindows;
import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.FindsPoison;
import dev.outbox.tck.store.OutboxStoreTck;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.RestartsSequences;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The TCK on the algorithm alone, without any database: in seconds, so that each line of the
 * algorithm can be made wrong in turn to see whether the suite notices.
 */
abstract class MapStoreTck extends OutboxStoreTck<Producer>
    implements AutoCommit<Producer>,
        RawRows<Producer>,
        DedupWindows<Producer>,
        MovesClock,
        SchemaFixture,
        LosesReplies,
        RestartsSequences,
        ExpiresMessages,
        FindsPoison {
  private final MapDatabase database;

  MapStoreTck(boolean leasesApart) {
    database = new MapDatabase(leasesApart);
  }

  @Override
  protected OutboxStore<Producer> createStore() {
    return createStore(BucketStore.DEFAULT_DEDUP_WINDOW);
  }

  @Override
  public OutboxStore<Producer> createStore(Duration dedupWindow) {
    return new MapStore(database, dedupWindow);
  }

  @Override
  protected void inTransaction(Consumer<Producer> work) {
    Producer producer = database.begin();
    try {
      work.accept(producer);
    } catch (Throwable e) {
      database.rollback(producer);
      throw e;
    }
    database.commit(producer);
  }

  @Override
  protected void reset() {
    database.clear();
  }

  @Override
  protected Duration shortTime() {
    return Duration.ofMillis(40);
  }

  @Override
  protected Duration patience() {
    return Duration.ofSeconds(5);
  }

  @Override
  protected int load() {
    return 300;
  }

  @Override
  public void withoutTransaction(Consumer<Producer> work) {
    Producer ended = database.begin();
    database.rollback(ended);
    work.accept(ended);
  }

  /** In memory a row by plain SQL is a message with nothing but what is required. */
  @Override
  public void insertRaw(Producer transaction, RawRow row) {
    OutboxMessage message = row.message();
    database.insert(transaction, message.key(), message);
  }

  @Override
  public void insertUndecodable(Producer transaction, RawRow row) {
    database.insert(transaction, row.message().key(), null);
  }

  @Override
  public void losingTheReply(Runnable work) {
    database.loseReply();
    assertThatThrownBy(work::run).isInstanceOf(TransientOutboxException.class);
  }

  @Override
  public void restartSequences() {
    database.restartSequence();
  }

  @Override
  public void moveClock(Duration by) {
    database.moveClock(by);
  }

  @Override
  public void dropSchema() {
    database.schemaVersion = 0;
  }

  @Override
  public void makeSchemaOlder() {
    database.schemaVersion--;
  }

  @Override
  public void makeSchemaNewer() {
    database.schemaVersion++;
  }

  @Override
  public void emptyInternalRows() {
    database.emptyInternalRows();
  }

  @Override
  public void restoreSchema() {
    reset();
  }
}
