package dev.outbox.debezium.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Debezium with the transform, on PostgreSQL")
class PostgresEngineTest extends EngineTests {
  private static DatabaseServer server;

  @BeforeAll
  static void start() {
    server = DatabaseServer.postgres(Map.of("wal_level", "logical"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  Source source() {
    return new Source.Postgres(server);
  }

  @Test
  @DisplayName("is followed by a relay again, by the page's steps, and little is repeated")
  void back() throws Exception {
    account.append(200);
    List<String> mark;
    CompletableFuture<Void> producer;
    try (Engine engine = engine()) {
      engine.awaitPublished(200);
      producer = appending(300);
      mark = source.row(Page.block("back: the mark, PostgreSQL"));
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  source
                      .row(Page.block("back: confirmed, PostgreSQL"), mark.get(1), source.name)
                      .get(0)
                      .equals("t"));
    } // and is killed, under load
    int deleted = source.update(Page.block("back: delete, PostgreSQL"), mark.get(0));
    assertThat(deleted).isGreaterThanOrEqualTo(200);
    try (KafkaPublisher publisher = publisher(ofEngine);
        Relay relay = relay(publisher)) {
      join(producer);
      account.assertArrived(ofEngine);
      await().atMost(PATIENCE).until(() -> source.messages() == 0);
    }
    assertThat(ofEngine.readToEnd().records() - account.count())
        .as("repeated")
        .isLessThanOrEqualTo(account.count() - deleted);
  }

  @Test
  @DisplayName("confirms the log while other tables are written and no message is appended")
  void quiet() {
    account.append(10);
    try (Engine engine = engine()) {
      engine.awaitPublished(10);
      source.database.execute("create table other (n integer)");
      for (int i = 0; i < 20; i++) {
        source.database.execute("insert into other select generate_series(1, 100)");
      }
      String position = source.database.query("select pg_current_wal_insert_lsn()");
      assertThat(source.row(Page.block("slot, PostgreSQL"))).startsWith(source.name, "t");
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  source
                      .row(Page.block("back: confirmed, PostgreSQL"), position, source.name)
                      .get(0)
                      .equals("t"));
    }
  }

  @Test
  @DisplayName("may be replaced by Debezium's own one, which does what the page says, and no more")
  void stock() {
    OutboxMessage plain =
        OutboxMessage.builder()
            .aggregate("order", "4711")
            .eventType("OrderPlaced")
            .payload(new byte[] {0, 1, -1, 34, 92})
            .header("tenant", "a")
            .build();
    OutboxMessage keyed = plain.toBuilder().id(UUID.randomUUID()).partitionKey("p").build();
    Map<String, String> settings = source.engine("unused");
    settings
        .keySet()
        .removeIf(s -> s.startsWith("key.converter") || s.equals("transforms.outbox.destination"));
    settings.putAll(Page.properties("stock", "${routedByValue}", ofEngine.name));
    source.append(List.of(plain, keyed));
    try (Engine engine = Engine.start(kafka, settings)) {
      await().atMost(PATIENCE).pollInSameThread().until(() -> ofEngine.read().first().size() == 2);
    }
    Topic.Arrived record = ofEngine.first().get(plain.id().toString());
    assertThat(record.key()).isEqualTo(hex("4711"));
    assertThat(record.value()).isEqualTo("0001ff225c");
    assertThat(record.headers())
        .contains(
            "id=" + hex(plain.id().toString()),
            "outbox-aggregate-type=" + hex("order"),
            "outbox-event-type=" + hex("OrderPlaced"),
            "content-type=" + hex("application/json"),
            "outbox-headers=" + hex("[[\"tenant\",\"a\"]]"),
            "outbox-dedup-key=null");
    assertThat(ofEngine.first().get(keyed.id().toString()).key())
        .as("not the partition key")
        .isEqualTo(hex("4711"));
  }

  private static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(UTF_8));
  }
}
