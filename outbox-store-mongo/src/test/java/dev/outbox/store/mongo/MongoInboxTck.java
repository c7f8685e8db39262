package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Updates.inc;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.core.internal.Names;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.inbox.InboxStoreTck;
import dev.outbox.tck.inbox.Retentions;
import java.time.Duration;
import java.util.function.Consumer;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** The TCK of inboxes on MongoDB, in a database of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class MongoInboxTck extends InboxStoreTck<ClientSession>
    implements AutoCommit<ClientSession>,
        Retentions<ClientSession>,
        FailsOnConflict,
        SchemaFixture,
        MovesClock,
        LosesReplies {
  private final Started started = new Started();

  /** The client's settings; a variant changes them. */
  protected void configure(MongoClientSettings.Builder settings) {}

  /** The prefix of the collections' names; a variant changes it. */
  protected String prefix() {
    return Names.INBOX_PREFIX;
  }

  @BeforeAll
  void start() {
    if (started.start(this::configure)) {
      createStore().migrate();
    }
  }

  @AfterAll
  void stop() {
    started.close();
  }

  private MongoCollection<Document> collection(String name) {
    return started.database().getCollection(prefix() + name);
  }

  private MongoInboxStore.Builder builder() {
    return MongoInboxStore.builder(started.client(), started.database).prefix(prefix());
  }

  @Override
  protected MongoInboxStore createStore() {
    return builder().build();
  }

  @Override
  public InboxStore<ClientSession> createStore(Duration retention) {
    return builder().retention(retention).build();
  }

  @Override
  protected void inTransaction(Consumer<ClientSession> work) {
    started.inTransaction(work);
  }

  @Override
  public void withoutTransaction(Consumer<ClientSession> work) {
    started.withoutTransaction(work);
  }

  @Override
  public boolean isToRunAgain(Throwable failure) {
    return failure instanceof MongoException e
        && e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
  }

  @Override
  protected void reset() {
    collection("message").deleteMany(empty());
  }

  @Override
  public void dropSchema() {
    started.database().drop();
  }

  @Override
  public void makeSchemaOlder() {
    collection("schema").updateMany(empty(), inc("version", -1));
  }

  @Override
  public void makeSchemaNewer() {
    collection("schema").updateMany(empty(), inc("version", 1));
  }

  @Override
  public void emptyInternalRows() {
    collection("schema").deleteMany(empty());
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    createStore().migrate();
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    MongoStoreTck.earlier(collection("message"), empty(), by, "lockUntil", "expiresAt");
  }

  @Override
  public void losingTheReply(Runnable work) {
    new FailPoint(started.client(), started.database)
        .losingTheReply(started.client(), started.database, "findAndModify", work);
  }
}
