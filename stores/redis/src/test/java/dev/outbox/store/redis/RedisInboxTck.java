package dev.outbox.store.redis;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.InboxStoreTck;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Retentions;
import dev.outbox.tck.SchemaFixture;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/** The TCK of inboxes on a real Redis, in keys of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class RedisInboxTck extends InboxStoreTck<RedisTransaction>
    implements AutoCommit<RedisTransaction>,
        Retentions<RedisTransaction>,
        FailsOnConflict,
        MovesClock,
        LosesReplies,
        SchemaFixture {
  private static final String KIND = "inbox";
  private TestRedis redis;
  private TestAbortedException noServer;

  @BeforeAll
  void start() {
    try {
      redis = new TestRedis();
    } catch (TestAbortedException e) {
      noServer = e;
      return;
    }
    builder().build().migrate();
  }

  @AfterAll
  void stop() {
    if (redis != null) {
      redis.close();
    }
  }

  private RedisInboxStore.Builder builder() {
    return redis.configured(RedisInboxStore.builder(redis.client, redis.name));
  }

  @Override
  protected InboxStore<RedisTransaction> createStore() {
    return builder().build();
  }

  @Override
  public InboxStore<RedisTransaction> createStore(Duration retention) {
    return builder().retention(retention).build();
  }

  @Override
  protected void inTransaction(Consumer<RedisTransaction> work) {
    redis.inTransaction(work);
  }

  @Override
  public void withoutTransaction(Consumer<RedisTransaction> work) {
    redis.withoutTransaction(work);
  }

  @Override
  public boolean isToRunAgain(Throwable failure) {
    return TestRedis.isToRunAgain(failure);
  }

  /** Each test is skipped with the reason when there is no server: reports list them. */
  @Override
  protected void reset() {
    if (noServer != null) {
      throw noServer;
    }
    redis.reset(KIND);
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    redis.earlier(KIND, by, "locks", "expires");
    redis.fieldEarlier(KIND, by, "message", "until");
  }

  @Override
  public void losingTheReply(Runnable work) {
    redis.losingTheReply(work);
  }

  @Override
  public void dropSchema() {
    redis.remove(KIND, key -> true);
  }

  @Override
  public void makeSchemaOlder() {
    redis.setSchema(KIND, 0);
  }

  @Override
  public void makeSchemaNewer() {
    redis.setSchema(KIND, 2);
  }

  /** All others are what was handled. */
  @Override
  public void emptyInternalRows() {
    redis.remove(KIND, redis.schema(KIND)::equals);
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    builder().build().migrate();
  }
}
