package dev.outbox.store.mongo;

import static java.time.temporal.ChronoUnit.FOREVER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Appends in transactions of the caller that end in all sorts of ways. */
class CallersTransactionTest extends StoreTests {
  private static final String DEDUP_KEY = "order 1 paid";

  @BeforeEach
  void empty() {
    for (String name : List.of("outbox_message", "outbox_dedup", "orders")) {
      database.collection(name).deleteMany(new Document());
    }
    database.collection("orders").insertOne(new Document("_id", 1));
  }

  private static OutboxMessage message() {
    return OutboxMessage.builder()
        .aggregate("order", "1")
        .eventType("OrderPaid")
        .payload("{}")
        .dedupKey(DEDUP_KEY)
        .build();
  }

  private Set<UUID> append(ClientSession session) {
    return store.append(session, List.of(message())).duplicates();
  }

  private void assertNothingStored() {
    assertThat(database.collection("outbox_message").countDocuments()).as("messages").isZero();
    assertThat(database.collection("outbox_dedup").countDocuments()).as("dedup keys").isZero();
    try (ClientSession session = begin()) {
      assertThat(append(session)).as("duplicates of what was never committed").isEmpty();
      session.commitTransaction();
    }
  }

  private ClientSession begin() {
    ClientSession session = database.client.startSession();
    session.startTransaction();
    return session;
  }

  @Nested
  @DisplayName("leaves neither a message nor a dedup key")
  class Aborted {

    @Test
    @DisplayName("when the session is closed in the middle of it")
    void closed() {
      try (ClientSession session = begin()) {
        assertThat(append(session)).isEmpty();
      }
      assertNothingStored();
    }

    @Test
    @DisplayName(
        "when another command of it fails after the append, and it is committed all the same")
    void failedLater() {
      try (ClientSession session = begin()) {
        assertThat(append(session)).isEmpty();
        assertThatThrownBy(
                () -> database.collection("orders").insertOne(session, new Document("_id", 1)))
            .isInstanceOf(MongoWriteException.class);
        assertThatThrownBy(session::commitTransaction).isInstanceOf(MongoException.class);
      }
      assertNothingStored();
    }

    @Test
    @DisplayName("when another command of it has failed before the append, which says so")
    void failedBefore() {
      try (ClientSession session = begin()) {
        assertThatThrownBy(
                () -> database.collection("orders").insertOne(session, new Document("_id", 1)))
            .isInstanceOf(MongoWriteException.class);
        assertSaysToRunAgain(catchThrowable(() -> append(session)));
        session.abortTransaction();
      }
      assertNothingStored();
    }

    @Test
    @DisplayName("when its client vanishes and the server ends the session")
    void vanished() {
      try (ClientSession session = begin()) {
        assertThat(append(session)).isEmpty();
        BsonDocument id = session.getServerSession().getIdentifier();
        Document unused =
            database
                .client
                .getDatabase("admin")
                .runCommand(new Document("killSessions", List.of(id)));
        assertSaysToRunAgain(catchThrowable(() -> append(session)));
        assertThatThrownBy(session::commitTransaction).isInstanceOf(MongoException.class);
      }
      assertNothingStored();
    }
  }

  @Test
  @DisplayName("with a window for dedup keys that never ends")
  void forever() {
    MongoOutboxStore remembering =
        MongoOutboxStore.builder(database.client, database.database.getName())
            .dedupWindow(FOREVER.getDuration())
            .build();
    database.append(remembering, message());
    try (ClientSession session = begin()) {
      assertThat(remembering.append(session, List.of(message())).duplicates()).hasSize(1);
    }
  }

  /** Only the label makes {@code withTransaction} do it; the sentence is for people. */
  private static void assertSaysToRunAgain(Throwable failure) {
    assertThat(failure)
        .isInstanceOf(MongoException.class)
        .hasMessageContaining("run the whole transaction again");
    assertThat(((MongoException) failure).getErrorLabels()).contains("TransientTransactionError");
  }

  @Nested
  @DisplayName("that meets the dedup key of another open one")
  class Conflict {
    /** With its own session: another thread's transaction, tried until the first is over. */
    private CompletableFuture<Set<UUID>> second() {
      return CompletableFuture.supplyAsync(
          () -> {
            try (ClientSession session = database.client.startSession()) {
              return session.withTransaction(
                  () -> {
                    return append(session);
                  });
            }
          });
    }

    @Test
    @DisplayName("is run again by withTransaction, however many there are: one message")
    void many() throws Exception {
      List<CompletableFuture<Set<UUID>>> all = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        all.add(second());
      }
      int stored = 0;
      for (CompletableFuture<Set<UUID>> one : all) {
        stored += one.get(3, TimeUnit.MINUTES).isEmpty() ? 1 : 0;
      }
      assertThat(stored).isEqualTo(1);
      assertThat(database.collection("outbox_message").countDocuments()).isEqualTo(1);
    }
  }

  @Nested
  @DisplayName("is refused with a clear error and nothing written")
  class Refused {

    @Test
    @DisplayName("when the session belongs to another MongoClient")
    void anotherClient() {
      try (MongoClient other = MongoClients.create(database.server.address());
          ClientSession session = other.startSession()) {
        session.startTransaction();
        for (OutboxMessage message : List.of(message(), withoutDedupKey())) {
          assertThatThrownBy(() -> store.append(session, List.of(message)))
              .isInstanceOf(OutboxException.class)
              .hasMessageContaining("the session cannot be used with this store's MongoClient")
              .hasMessageContaining("same MongoClient");
        }
        other
            .getDatabase(database.database.getName())
            .getCollection("orders")
            .insertOne(session, new Document("_id", 2));
        session.commitTransaction();
      }
      assertThat(database.collection("orders").countDocuments())
          .as("the caller's own work, which the refused append did not end")
          .isEqualTo(2);
      assertNothingStored();
    }

    private OutboxMessage withoutDedupKey() {
      return OutboxMessage.builder()
          .aggregate("order", "1")
          .eventType("OrderPaid")
          .payload("{}")
          .build();
    }

    @Test
    @DisplayName("when the session is closed")
    void closed() {
      ClientSession session = begin();
      session.close();
      assertNoTransaction(session);
      assertNothingStored();
    }

    private void assertNoTransaction(ClientSession session) {
      assertThatThrownBy(() -> append(session))
          .isInstanceOf(NoTransactionException.class)
          .hasMessageContaining("withTransaction");
    }
  }
}
