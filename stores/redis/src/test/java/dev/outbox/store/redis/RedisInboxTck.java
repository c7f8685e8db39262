package dev.outbox.store.redis;

import dev.outbox.spi.store.InboxStore;
import dev.outbox.tck.inbox.InboxStoreTck;
import dev.outbox.tck.inbox.Retentions;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.TestInstance;

/** The TCK of inboxes on a real Redis, in keys of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class RedisInboxTck extends InboxStoreTck<RedisTransaction>
    implements OnRedis, Retentions<RedisTransaction> {
  private static final String KIND = "inbox";
  private final TestRedis.OfSuite redis = new TestRedis.OfSuite();

  @Override
  public TestRedis.OfSuite ofSuite() {
    return redis;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public void migrate() {
    builder().build().migrate();
  }

  private RedisInboxStore.Builder builder() {
    return redis().configured(RedisInboxStore.builder(redis().client, redis().name));
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
    redis().inTransaction(work);
  }

  @Override
  protected void reset() {
    redis().reset(KIND);
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    redis().earlier(KIND, by, "locks", "expires");
    redis().fieldEarlier(KIND, by, "message", "until");
  }
}
