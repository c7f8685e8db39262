package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Updates.inc;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.inbox.MongoInboxStoreTck;
import java.time.Duration;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The TCK of inboxes on MongoDB, in a database of its own. */
public class MongoInboxTck extends MongoInboxStoreTck
    implements SchemaFixture, MovesClock, LosesReplies {
  private final Started started = new Started();

  /** The client's settings; a variant changes them. */
  protected void configure(MongoClientSettings.Builder settings) {}

  /** A variant changes it. */
  @Override
  protected String prefix() {
    return PrefixedNames.INBOX_PREFIX;
  }

  @BeforeAll
  @Override
  protected void start() {
    if (started.start(this::configure)) {
      super.start();
    }
  }

  @AfterAll
  void stop() {
    started.close();
  }

  private MongoCollection<Document> collection(String name) {
    return started.database().getCollection(prefix() + name);
  }

  @Override
  protected MongoClient client() {
    return started.client();
  }

  @Override
  protected String database() {
    return started.database;
  }

  @Override
  public InboxStore<ClientSession> createStore(Duration retention) {
    return MongoInboxStore.builder(client(), database())
        .prefix(prefix())
        .retention(retention)
        .build();
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
    super.start();
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
