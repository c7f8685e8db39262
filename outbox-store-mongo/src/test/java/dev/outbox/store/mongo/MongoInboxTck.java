package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Updates.inc;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.outbox.embedded.MongoServer;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.core.internal.Names;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.InboxStoreTck;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Retentions;
import dev.outbox.tck.SchemaFixture;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/** The TCK of inboxes on MongoDB, in a database of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class MongoInboxTck extends InboxStoreTck<ClientSession>
    implements AutoCommit<ClientSession>,
        Retentions<ClientSession>,
        FailsOnConflict,
        SchemaFixture,
        MovesClock,
        LosesReplies {
  private final String database =
      System.getProperty("outbox.test.schema", "outbox_test")
          + "_"
          + UUID.randomUUID().toString().substring(0, 8);
  private MongoServer server;
  private TestAbortedException noServer;
  private MongoClient client;

  /** The client's settings; a variant changes them. */
  protected void configure(MongoClientSettings.Builder settings) {}

  /** The prefix of the collections' names; a variant changes it. */
  protected String prefix() {
    return Names.INBOX_PREFIX;
  }

  @BeforeAll
  void start() {
    try {
      server = MongoServer.start();
    } catch (TestAbortedException e) {
      noServer = e;
      return;
    }
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(server.connectionString()))
            .applicationName(database);
    configure(settings);
    client = MongoClients.create(settings.build());
    createStore().migrate();
  }

  @AfterAll
  void stop() {
    if (client != null) {
      client.getDatabase(database).drop();
      client.close();
    }
    if (server != null) {
      server.close();
    }
  }

  private MongoCollection<Document> collection(String name) {
    return client.getDatabase(database).getCollection(prefix() + name);
  }

  private MongoInboxStore.Builder builder() {
    return MongoInboxStore.builder(client, database).prefix(prefix());
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
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      work.accept(session);
      session.commitTransaction();
    }
  }

  @Override
  public void withoutTransaction(Consumer<ClientSession> work) {
    try (ClientSession session = client.startSession()) {
      work.accept(session);
    }
  }

  @Override
  public boolean isToRunAgain(Throwable failure) {
    return failure instanceof MongoException e
        && e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
  }

  /** Each test is skipped with the reason when there is no server: reports list them. */
  @Override
  protected void reset() {
    if (noServer != null) {
      throw noServer;
    }
    collection("message").deleteMany(empty());
  }

  @Override
  public void dropSchema() {
    client.getDatabase(database).drop();
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
    new FailPoint(client, database).losingTheReply(client, database, "findAndModify", work);
  }
}
