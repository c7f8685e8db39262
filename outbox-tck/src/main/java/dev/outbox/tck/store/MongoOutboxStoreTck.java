package dev.outbox.tck.store;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.internal.Mongo;
import java.util.Date;
import java.util.List;
import java.util.function.Consumer;
import org.bson.Document;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The suite with a fixture for our store on MongoDB, which needs no more than this:
 *
 * <pre>{@code
 * class MyDatabaseTest extends MongoOutboxStoreTck {
 *   protected MongoClient client() { … }
 *   protected String database() { … }
 *   protected OutboxStore<ClientSession> createStore() {
 *     return MongoOutboxStore.builder(client(), database()).prefix(prefix()).build();
 *   }
 * }
 * }</pre>
 *
 * <p>It makes collections whose names begin with {@link #prefix}, empties them before each test,
 * and leaves them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class MongoOutboxStoreTck extends OutboxStoreTck<ClientSession>
    implements AutoCommit<ClientSession>, FailsOnConflict {

  /** The same one each time; called often, and by several threads. */
  protected abstract MongoClient client();

  /** The name of the database. */
  protected abstract String database();

  /** How the names of the collections begin: not as those that an application uses. */
  protected String prefix() {
    return "outbox_tck_";
  }

  /** Makes the collections. */
  @BeforeAll
  protected void start() {
    ((SchemaStore) createStore()).migrate();
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
    emptied().forEach(name -> collection(name).deleteMany(empty()));
    collection("bucket")
        .updateMany(
            empty(),
            combine(
                set("leaseUntil", new Date(0)),
                set("takeovers", 0),
                set("singles", 0),
                unset("claimId"),
                unset("session"),
                unset("leasedAt")));
  }

  /** The collections that are emptied before each test, without the prefix: all but the buckets. */
  protected List<String> emptied() {
    return List.of("message", "blocked_key", "dedup", "pause");
  }

  /** One of the store's, by its name without the prefix. */
  protected final MongoCollection<Document> collection(String name) {
    return client().getDatabase(database()).getCollection(prefix() + name);
  }
}
