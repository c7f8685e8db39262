package dev.outbox.dev.demo;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.outbox.inbox.InboxKey;
import dev.outbox.store.mongo.MongoInboxStore;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.Document;

/** With MongoDB's driver. A shipment's own id is another each time. */
public final class MongoShippingService implements ShippingService {
  private static final String CONSUMER = "shipping";
  private static final String SHIPMENTS = "demo_shipment";
  private static final String REPETITIONS = "demo_repetition";

  private final MongoClient client;
  private final MongoInboxStore inbox;
  private final MongoDatabase database;

  public MongoShippingService(MongoClient client, MongoInboxStore inbox, MongoDatabase database) {
    this.client = client;
    this.inbox = inbox;
    this.database = database;
  }

  @Override
  public void create() {
    inbox.migrate();
    database.createCollection(SHIPMENTS);
    database.createCollection(REPETITIONS);
  }

  @Override
  public void ship(List<UUID> messages) {
    try (ClientSession session = client.startSession()) {
      boolean unused =
          session.withTransaction(
              () -> {
                ship(session, messages);
                return true;
              },
              MongoOrderService.TRANSACTION);
    }
  }

  private void ship(ClientSession session, List<UUID> messages) {
    List<Document> repeated = new ArrayList<>();
    List<Document> shipped = new ArrayList<>();
    for (UUID message : messages) {
      boolean first = inbox.firstTime(session, new InboxKey(CONSUMER, message.toString()));
      (first ? shipped : repeated).add(new Document("message", message.toString()));
    }
    insert(session, SHIPMENTS, shipped);
    insert(session, REPETITIONS, repeated);
  }

  private void insert(ClientSession session, String collection, List<Document> documents) {
    if (!documents.isEmpty()) {
      var unused = database.getCollection(collection).insertMany(session, documents);
    }
  }

  @Override
  public Shipped shipped() {
    MongoCollection<Document> shipments = database.getCollection(SHIPMENTS);
    return new Shipped(
        shipments.find().map(d -> UUID.fromString(d.getString("message"))).into(new ArrayList<>()),
        database.getCollection(REPETITIONS).countDocuments());
  }
}
