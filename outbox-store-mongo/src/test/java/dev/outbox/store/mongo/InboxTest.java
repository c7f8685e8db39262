package dev.outbox.store.mongo;

import static com.mongodb.client.model.Updates.unset;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.outbox.SchemaException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.InboxKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@DisplayName("The inbox")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class InboxTest {
  private static final InboxKey KEY = new InboxKey("shipping", "1");

  private TestDatabase database;
  private MongoClient client;
  private MongoInboxStore inbox;
  private final List<String> sent = new CopyOnWriteArrayList<>();

  @BeforeAll
  void open() {
    database = TestDatabase.open();
    client = database.telling(event -> sent.add(event.getCommandName()));
    inbox = MongoInboxStore.of(client, database.database.getName());
    inbox.migrate();
  }

  @AfterAll
  void close() {
    if (client != null) {
      client.close();
      database.close();
    }
  }

  @BeforeEach
  void empty() {
    database.collection("inbox_message").deleteMany(new Document());
  }

  private boolean recorded(InboxKey... keys) {
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      boolean first = true;
      for (InboxKey key : keys) {
        first = inbox.firstTime(session, key);
      }
      session.commitTransaction();
      return first;
    }
  }

  @Test
  @DisplayName("adds one command to the consumer's transaction, for the first and for a duplicate")
  void oneCommand() {
    InboxKey before = new InboxKey("shipping", "before"); // the clock is read now and then
    assertThat(recorded(before)).isTrue();
    sent.clear();
    assertThat(recorded(KEY)).isTrue();
    assertThat(sent).containsExactly("findAndModify", "commitTransaction");
    sent.clear();
    assertThat(recorded(KEY)).isFalse();
    assertThat(sent).containsExactly("findAndModify", "commitTransaction");
  }

  @Test
  @DisplayName("keeps why a key was released, for people")
  void keepsTheError() {
    Begin<ClientSession> begin = inbox.begin(KEY, Duration.ofMinutes(1));
    ((Begin.Started<ClientSession>) begin).lock().release("refused: \u0000");
    assertThat(database.collection("inbox_message").find().first().getString("lastError"))
        .isEqualTo("refused: \uFFFD");
  }

  @Test
  @DisplayName("says that a collection which a write made anew has lost its indexes, and mends it")
  void lostIndexes() {
    database.collection("inbox_message").drop();
    assertThat(recorded(KEY)).isTrue();
    assertThatThrownBy(inbox::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageStartingWith("collection inbox_message has lost its indexes")
        .hasMessageContaining("outbox migrate --inbox");
    inbox.migrate();
    inbox.verify();
    assertThat(recorded(KEY)).isFalse();
  }

  @Test
  @DisplayName("asks the server for its time to renew a lock: a suspended host keeps none")
  void renews() {
    Begin<ClientSession> begin = inbox.begin(KEY, Duration.ofMinutes(1));
    sent.clear();
    assertThat(((Begin.Started<ClientSession>) begin).lock().renew(Duration.ofMinutes(2))).isTrue();
    assertThat(sent).containsExactly("find", "findAndModify");
  }

  @Test
  @DisplayName("gives the driver a second more than the server, whatever limit a client has")
  void limits() {
    MongoCollection<Document> messages = database.collection("inbox_message");
    assertThat(OutboxCollections.within(messages, 10_000)).isSameAs(messages);
    MongoCollection<Document> limited = messages.withTimeout(1, TimeUnit.MINUTES);
    assertThat(OutboxCollections.within(limited, 10_000).getTimeout(TimeUnit.MILLISECONDS))
        .isEqualTo(11_000);
    assertThat(OutboxCollections.within(limited, 100).getTimeout(TimeUnit.MILLISECONDS))
        .isEqualTo(1_100);
  }

  @Test
  @DisplayName("refuses a document that could never be forgotten")
  void validator() {
    assertThat(recorded(KEY)).isTrue();
    assertThatThrownBy(
            () ->
                database.collection("inbox_message").updateOne(new Document(), unset("expiresAt")))
        .hasMessageContaining("validation");
  }
}
