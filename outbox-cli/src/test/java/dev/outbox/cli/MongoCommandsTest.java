package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.outbox.embedded.MongoServer;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On MongoDB. */
class MongoCommandsTest extends DatabaseCommandsTest {
  private final String name = "outbox_cli_" + UUID.randomUUID().toString().substring(0, 8);
  private MongoServer server;
  private MongoClient client;

  @BeforeAll
  void start() {
    server = MongoServer.start();
    client = MongoClients.create(server.connectionString());
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

  /** The server, whatever database its URL names. */
  private Database database() {
    return Database.at(new Address(server.connectionString(), "", ""));
  }

  @Override
  List<String> options() {
    try (Database database = database()) {
      return List.of("--url=" + database.in(name).url());
    }
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
            .append("key", "17")
            .append("attempts", 10)
            .append("lastError", error);
    messages().insertOne(document);
    try (Database server = database();
        Database database = Database.at(server.in(name))) {
      List<DeadLetter> all = database.store().deadLetters(0, 100);
      return all.get(all.size() - 1).message().sequence();
    }
  }

  @Override
  List<String> statuses() {
    return messages().find().map(message -> message.getString("status")).into(new ArrayList<>());
  }

  @Test
  @DisplayName("what an interrupted tck left is removed, and nothing else")
  void removeSchemas() {
    String begin = name + "_tck";
    for (String each : List.of(begin + "_1", begin + "_2", name + "xtck")) {
      client.getDatabase(each).createCollection("t");
    }
    try (Database database = database()) {
      database.createSchema(begin);
      TckCommand.removeSchemas(database, begin);
      assertThat(client.listDatabaseNames().into(new ArrayList<>()))
          .filteredOn(each -> each.startsWith(name))
          .containsExactly(name + "xtck");
    } finally {
      client.getDatabase(name + "xtck").drop();
    }
  }
}
