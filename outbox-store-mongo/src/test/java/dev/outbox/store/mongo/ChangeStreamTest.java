package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.ClientSession;
import dev.outbox.Appended;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.OutboxStore.WakeUps;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Wake-ups by a change stream. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChangeStreamTest {
  private final AtomicInteger wakeUps = new AtomicInteger();
  private final List<OutboxException> failures = new CopyOnWriteArrayList<>();
  private TestDatabase database;
  private MongoOutboxStore store;

  @BeforeAll
  void start() {
    database = TestDatabase.open();
    store = MongoOutboxStore.of(database.client, database.database.getName());
    store.migrate();
  }

  @AfterAll
  void stop() {
    if (database != null) {
      database.close();
    }
  }

  private void append() {
    try (ClientSession session = database.client.startSession()) {
      session.startTransaction();
      Appended ignored =
          store.append(
              session,
              OutboxMessage.builder()
                  .aggregate("order", "1")
                  .eventType("OrderChanged")
                  .payload("{}")
                  .build());
      session.commitTransaction();
    }
  }

  /** A stream shows what comes after it was opened, and nobody says when that was. */
  private void appendUntilWoken(AtomicInteger woken) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              append();
              return woken.get() > 0;
            });
  }

  @Test
  @DisplayName("an append by anybody wakes, until the listening is closed")
  void wakes() {
    try (WakeUps listening = store.listen(wakeUps::incrementAndGet, failures::add)) {
      assertThat(listening).isNotNull();
      appendUntilWoken(wakeUps);
      int before = wakeUps.get();
      database
          .collection("outbox_message")
          .insertOne(
              new Document("seq", new BsonTimestamp())
                  .append("aggregateType", "order")
                  .append("aggregateId", "1")
                  .append("eventType", "OrderChanged")
                  .append("payload", "{}"));
      await().atMost(Duration.ofMinutes(1)).until(() -> wakeUps.get() > before);
    }
    int atClose = wakeUps.get();
    AtomicInteger others = new AtomicInteger();
    try (WakeUps other = store.listen(others::incrementAndGet, failures::add)) {
      assertThat(other).isNotNull();
      appendUntilWoken(others);
    }
    assertThat(wakeUps).as("wake-ups after the listening was closed").hasValue(atClose);
    assertThat(failures).isEmpty();
  }
}
