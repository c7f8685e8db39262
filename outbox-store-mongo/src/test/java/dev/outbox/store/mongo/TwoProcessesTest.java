package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Sorts.ascending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.ClientSession;
import dev.outbox.OutboxMessage;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Relays in processes of their own, one of which is killed again and again. */
class TwoProcessesTest {

  /** Longer than any of them works on a claim, so that a key that two hold is a violation. */
  static final Duration LEASE = Duration.ofSeconds(8);

  private static final int KEYS = 40;
  private static final int ROUNDS = 3;
  private static final int PER_ROUND = 5;

  private final long seed = Long.getLong("outbox.test.seed", System.nanoTime());
  private final Map<String, Process> relays = new HashMap<>();
  private TestDatabase database;
  private MongoOutboxStore store;
  private int appended;

  @BeforeEach
  void start() {
    database = TestDatabase.open();
    store = MongoOutboxStore.of(database.client, database.database.getName());
    store.migrate();
  }

  @AfterEach
  void stop() {
    relays.values().forEach(Process::destroyForcibly);
    if (database != null) {
      database.close();
    }
  }

  @Test
  @DisplayName("never hold the same key, deliver each in order, and lose nothing")
  void keys() throws Exception {
    System.out.println("TwoProcessesTest: -Doutbox.test.seed=" + seed);
    startRelay("a");
    startRelay("b0");
    for (int round = 0; round < ROUNDS; round++) {
      long before = delivered();
      append();
      await().atMost(Duration.ofMinutes(3)).until(() -> delivered() > before + KEYS);
      kill("b" + round);
      append();
      startRelay("b" + (round + 1));
    }
    await().atMost(Duration.ofMinutes(5)).until(this::isEmpty);
    database.collection("stop").insertOne(new Document());
    for (Process relay : relays.values()) {
      assertThat(relay.waitFor()).as("how a relay ended, see its output").isZero();
    }
    assertThat(database.collection("violations").find()).as("keys that two held").isEmpty();
    assertInOrder();
  }

  private void startRelay(String name) throws IOException {
    relays.put(
        name,
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-cp",
                System.getProperty("java.class.path"),
                RelayProcess.class.getName(),
                database.server.connectionString(),
                database.database.getName(),
                name,
                Long.toString(seed + name.hashCode()))
            .inheritIO()
            .start());
  }

  /** What it held is nobody's now, and comes to the other when its leases have run out. */
  private void kill(String name) throws InterruptedException {
    assertThat(relays.remove(name).destroyForcibly().waitFor()).isNotZero();
    database.collection("killed").insertOne(new Document("_id", name));
    database.collection("held").deleteMany(eq("by", name));
  }

  private void append() {
    for (int i = 0; i < PER_ROUND; i++) {
      int number = appended++;
      List<OutboxMessage> messages =
          IntStream.range(0, KEYS)
              .mapToObj(
                  key ->
                      OutboxMessage.builder()
                          .aggregate("order", "key" + key)
                          .eventType("Changed")
                          .payload(Integer.toString(number))
                          .build())
              .toList();
      try (ClientSession session = database.client.startSession()) {
        session.withTransaction(() -> store.append(session, messages));
      }
    }
  }

  private long delivered() {
    return database.collection("delivered").countDocuments();
  }

  private boolean isEmpty() {
    return database.collection("outbox_message").countDocuments() == 0;
  }

  /** Repetitions aside, each key's messages came from 0 on without a gap. */
  private void assertInOrder() {
    Map<String, List<Integer>> first = new HashMap<>();
    for (Document delivery : database.collection("delivered").find().sort(ascending("at"))) {
      List<Integer> numbers =
          first.computeIfAbsent(delivery.getString("key"), key -> new ArrayList<>());
      int number = delivery.getInteger("number");
      if (!numbers.contains(number)) {
        numbers.add(number);
      }
    }
    List<Integer> all = IntStream.range(0, appended).boxed().toList();
    assertThat(first).hasSize(KEYS);
    first.forEach((key, numbers) -> assertThat(numbers).as(key).isEqualTo(all));
  }
}
