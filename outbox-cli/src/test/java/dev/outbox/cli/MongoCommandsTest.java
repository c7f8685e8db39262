package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

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

  @Test
  @DisplayName("what leaves is archived, found and replayed, and nothing leaves a gap")
  void archive() throws Exception {
    assertThat(cli("migrate").code()).isZero();
    String dead = Long.toString(insertDead("broker said no"));
    Cli none = cli("archive", "find");
    assertThat(none.code()).isEqualTo(Main.NOT_DONE);
    assertThat(none.err()).contains("outbox_archive_schema", "migrate --archive").hasLineCount(1);
    Cli noCollections = cli("dead-letters", "discard", dead, "--archive=full");
    assertThat(noCollections.code()).isEqualTo(Main.NOT_DONE);
    assertThat(noCollections.err()).contains("outbox_archive_schema").hasLineCount(1);
    assertThat(client.getDatabase(name).listCollectionNames())
        .doesNotContain("outbox_archive_message");

    assertThat(cli("migrate", "--archive=full").code()).isZero();
    Cli untold = cli("dead-letters", "discard", dead);
    assertThat(untold.code()).isEqualTo(Main.NOT_DONE);
    assertThat(untold.err()).contains("this outbox has an archive", "add --archive=full");
    Cli discard = cli("dead-letters", "discard", dead, "--archive=full", "--by=alice");
    assertThat(discard.code()).as(discard.err()).isZero();
    assertThat(cli("archive", "find").out())
        .contains("DISCARDED", "OrderPlaced", "broker said no", dead);
    Cli replay = cli("archive", "replay", "--archive=full", "--yes", "--outcome=discarded");
    assertThat(replay.code()).as(replay.err()).isZero();
    assertThat(replay.out()).contains("1 messages left", "1 replayed.");
    assertThat(statuses()).containsExactly("PENDING");
    assertThat(cli("grants", "--producer=shop", "--relay=mail", "--archive=full").out())
        .contains("grantPrivilegesToRole: \"mail\"");
  }

  @Override
  List<String> statuses() {
    return messages().find().map(message -> message.getString("status")).into(new ArrayList<>());
  }
}
