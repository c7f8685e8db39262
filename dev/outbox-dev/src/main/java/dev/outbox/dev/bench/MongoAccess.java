package dev.outbox.dev.bench;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.outbox.Archive;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.InboxKey;
import dev.outbox.relay.Relay;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.mongo.MongoInboxStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import java.util.List;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A client with a pool of its own.
 *
 * @param database the name of the one that all is in
 */
record MongoAccess(MongoClient client, String database, MongoOutboxStore store)
    implements BenchDatabase.Access {
  static final String BUSINESS = "business";
  static final String LIMIT = "like_message";

  @Override
  public OutboxStore<?> store(Archive archive) {
    return MongoOutboxStore.builder(client, database).archive(archive).build();
  }

  @Override
  public BenchDatabase.LimitWorker limitWorker(int most) {
    return new MongoLimit.Worker(collection(LIMIT), most);
  }

  private MongoCollection<Document> collection(String name) {
    return client.getDatabase(database).getCollection(name);
  }

  @Override
  public BenchDatabase.Business business(@Nullable Relay relay) {
    Outbox<ClientSession> outbox = relay == null ? store : relay.wakeOnAppend(store);
    return new Business(
        client.startSession(),
        outbox,
        MongoInboxStore.of(client, database),
        collection(BUSINESS),
        collection(LIMIT));
  }

  @Override
  public void close() {
    client.close();
  }

  /** Transactions with one document each, and what is appended or recorded. */
  private record Business(
      ClientSession session,
      Outbox<ClientSession> outbox,
      MongoInboxStore inbox,
      MongoCollection<Document> business,
      MongoCollection<Document> limit)
      implements BenchDatabase.Business {

    static Document document() {
      return new Document("customer", "customer-1").append("amount", 1250L);
    }

    @Override
    public void transaction(BenchDatabase.Append append, List<OutboxMessage> messages) {
      var unused =
          session.withTransaction(
              () -> {
                business.insertOne(session, document());
                switch (append) {
                  case OUTBOX -> outbox.append(session, messages);
                  case BARE -> MongoLimit.insert(session, limit, messages);
                  case NONE -> {}
                }
                return true;
              });
    }

    @Override
    public void consume(@Nullable InboxKey key) {
      var unused =
          session.withTransaction(
              () -> {
                if (key != null && !inbox.firstTime(session, key)) {
                  throw new IllegalStateException(key + " came before");
                }
                return business.insertOne(session, document());
              });
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
