package dev.outbox.example.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.mongo.MongoInboxStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the documents say of MongoDB: the append, and the documents of other languages. */
class MongoTest {
  private static final Pattern INSERT =
      Pattern.compile("(?ms)^db\\.(\\w+)\\.insertOne\\((.*?)\\);$");

  private final TestServer server = TestServer.mongo();
  private final MongoClient client = MongoClients.create(server.address());
  private final MongoDatabase shop =
      client.getDatabase("readme_" + UUID.randomUUID().toString().substring(0, 8));
  private final MongoCollection<Document> orders = shop.getCollection("orders");
  private final MongoOutboxStore outbox = MongoOutboxStore.of(client, shop.getName());

  @BeforeEach
  void createCollections() {
    outbox.migrate();
  }

  @AfterEach
  void close() {
    shop.drop();
    client.close();
    server.close();
  }

  /** Runs the inserts of a region in one transaction, as any driver would send them. */
  private void run(String region) throws Exception {
    String script =
        Regions.in(Path.of("src/test/resources/plain-documents.js"))
            .get(region)
            .replace("new Date()", "ISODate(\"2026-01-01T00:00:00Z\")");
    List<MatchResult> inserts = INSERT.matcher(script).results().toList();
    assertThat(inserts).isNotEmpty();
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      for (MatchResult insert : inserts) {
        shop.getCollection(insert.group(1), BsonDocument.class)
            .insertOne(session, BsonDocument.parse(insert.group(2)));
      }
      session.commitTransaction();
    }
  }

  private List<OutboxMessage> delivered() {
    return RelayOnce.run(outbox, new RecordingPublisher()).delivered().stream()
        .map(StoredMessage::message)
        .toList();
  }

  @Test
  void append() {
    orders.insertOne(new Document("_id", "order-1").append("state", "PLACED"));
    OutboxMessage message = Shop.paid("order-1");
    // tag::append
    try (ClientSession session = client.startSession()) {
      session.withTransaction(
          () -> {
            orders.updateOne(session, Filters.eq("order-1"), Updates.set("state", "PAID"));
            return outbox.append(session, message);
          });
    }
    // end::append
    assertThat(delivered()).extracting(OutboxMessage::id).containsExactly(message.id());
    assertThat(orders.find().first()).containsEntry("state", "PAID");
  }

  @Test
  void firstTime() {
    MongoInboxStore inbox = MongoInboxStore.of(client, shop.getName());
    inbox.migrate();
    orders.insertOne(new Document("_id", "order-1").append("shipped", 0));
    for (String messageId : List.of("m-1", "m-1")) {
      // tag::first-time
      try (ClientSession session = client.startSession()) {
        session.withTransaction(
            () -> {
              boolean first = inbox.firstTime(session, new InboxKey("shipping", messageId));
              if (first) {
                orders.updateOne(session, Filters.eq("order-1"), Updates.inc("shipped", 1));
              }
              return first;
            });
      }
      // end::first-time
    }
    assertThat(orders.find().first()).containsEntry("shipped", 1);
  }

  @Test
  void insert() throws Exception {
    run("insert");
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo("order/order-1");
    assertThat(message.payloadAsString()).isEqualTo("{\"total\": 12.50}");
  }

  @Test
  void everyField() throws Exception {
    run("full");
    assertThat(delivered()).as("due in 2036").isEmpty();
    shop.getCollection("outbox_message")
        .updateOne(new Document(), Updates.currentDate("availableAt"));
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo("customer-7");
    assertThat(message.maxAttempts()).isEqualTo(3);
    assertThat(message.expiresAt()).isEqualTo("2036-02-01T00:00:00Z");
    assertThat(message.payload()).containsExactly(10, 7, '1', '2', '.', '5', '0');
    assertThat(message.headers()).hasSize(2).contains(new Header("tenant", "a"));
  }

  @Test
  void unordered() throws Exception {
    run("unordered");
    OutboxMessage message = delivered().get(0);
    assertThat(message.key()).isEqualTo(message.id().toString());
  }

  @Test
  void withDedupKey() throws Exception {
    run("dedup");
    assertThatThrownBy(() -> run("dedup"))
        .isInstanceOf(MongoException.class)
        .satisfies(e -> assertThat(((MongoException) e).getCode()).isEqualTo(11000));
    assertThat(delivered()).hasSize(1);
  }
}
