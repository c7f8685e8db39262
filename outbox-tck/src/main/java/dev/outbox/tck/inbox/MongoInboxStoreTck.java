package dev.outbox.tck.inbox;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.model.Filters;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.internal.Mongo;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The suite with a fixture for our inbox on MongoDB, which needs no more than this:
 *
 * <pre>{@code
 * class MyInboxTest extends MongoInboxStoreTck {
 *   protected MongoClient client() { … }
 *   protected String database() { … }
 *   public InboxStore<ClientSession> createStore(Duration retention) {
 *     return MongoInboxStore.builder(client(), database()).prefix(prefix()).retention(retention).build();
 *   }
 * }
 * }</pre>
 *
 * <p>It makes collections whose names begin with {@link #prefix}, empties them before each test,
 * and leaves them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class MongoInboxStoreTck extends InboxStoreTck<ClientSession>
    implements AutoCommit<ClientSession>, Retentions<ClientSession>, FailsOnConflict {

  /** The same one each time; called often, and by several threads. */
  protected abstract MongoClient client();

  /** The name of the database. */
  protected abstract String database();

  /** How the names of the collections begin: not as those that an application uses. */
  protected String prefix() {
    return "inbox_tck_";
  }

  /** Makes the collections. */
  @BeforeAll
  protected void start() {
    ((SchemaStore) createStore()).migrate();
  }

  @Override
  protected final InboxStore<ClientSession> createStore() {
    return createStore(InboxStore.DEFAULT_RETENTION);
  }

  @Override
  protected void inTransaction(Consumer<ClientSession> work) {
    Mongo.inTransaction(client(), work);
  }

  @Override
  public void withoutTransaction(Consumer<ClientSession> work) {
    Mongo.withoutTransaction(client(), work);
  }

  @Override
  public boolean isToRunAgain(Throwable failure) {
    return Mongo.isToRunAgain(failure);
  }

  @Override
  protected void reset() {
    client()
        .getDatabase(database())
        .getCollection(prefix() + "message")
        .deleteMany(Filters.empty());
  }
}
