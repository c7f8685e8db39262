package dev.outbox.cli;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.outbox.embedded.TestServer;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.store.mongo.MongoUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** On MongoDB. */
class MongoCommandsTest extends DatabaseCommandsTest {
  private final String name = "outbox_cli_" + UUID.randomUUID().toString().substring(0, 8);
  private TestServer server;
  private MongoClient client;

  @BeforeAll
  void start() {
    server = TestServer.mongo();
    client = MongoClients.create(server.address());
  }

  @AfterAll
  void stop() {
    if (server != null) {
      client.close();
      server.close();
    }
  }

  @Override
  void create() {}

  @Override
  void drop() {
    client.getDatabase(name).drop();
  }

  private String url() {
    return MongoUrl.of(server.address()).in(name).text();
  }

  @Override
  List<String> options() {
    return List.of("--url=" + url());
  }

  @Override
  StoreProvider.Opened opened() {
    return Stores.connect(new Address(url(), "", ""));
  }

  private MongoCollection<Document> messages() {
    return client.getDatabase(name).getCollection("outbox_message");
  }

  /** The server gives the sequence. */
  @Override
  long insertDead(String error) {
    Document document =
        new Document("seq", new BsonTimestamp())
            .append("aggregateType", "order")
            .append("aggregateId", "17")
            .append("eventType", "OrderPlaced")
            .append("payload", new Binary(new byte[0]))
            .append("id", new Binary((byte) 4, new byte[16]))
            .append("bucket", 1)
            .append("status", "DEAD")
            .append("key", "order/17")
            .append("attempts", 10)
            .append("lastError", error);
    messages().insertOne(document);
    try (StoreProvider.Opened outbox = opened()) {
      List<DeadLetter> all = Stores.as(DeadLetterStore.class, outbox.store()).deadLetters(0, 100);
      return all.get(all.size() - 1).message().sequence();
    }
  }

  @Override
  List<String> statuses() {
    return messages().find().map(message -> message.getString("status")).into(new ArrayList<>());
  }
}
