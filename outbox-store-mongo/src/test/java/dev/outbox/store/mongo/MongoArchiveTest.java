package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Updates.set;
import static dev.outbox.tck.internal.Decisions.all;
import static java.time.temporal.ChronoUnit.FOREVER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.event.CommandStartedEvent;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What this store does about its archive, beside what the TCK asks. */
@DisplayName("The archive")
class MongoArchiveTest {
  private static final Search ALL =
      Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z"));

  private TestDatabase database;
  private MongoOutboxStore store;

  @BeforeEach
  void open() {
    database = TestDatabase.open();
    store = builder().archive(Archive.FULL).build();
    store.migrate();
  }

  @AfterEach
  void close() {
    if (database != null) {
      database.close();
    }
  }

  private MongoOutboxStore.Builder builder() {
    return MongoOutboxStore.builder(database.client, database.database.getName());
  }

  private void append(OutboxMessage... messages) {
    database.append(store, messages);
  }

  private static OutboxMessage message(String key) {
    return message(key, 2);
  }

  private static OutboxMessage message(String key, int payload) {
    return OutboxMessage.builder()
        .aggregate("order", key)
        .eventType("Placed")
        .payload(new byte[payload])
        .build();
  }

  /** Settles what can be claimed, all alike; returns the keys. */
  private List<String> settle(MongoOutboxStore by, Decision decision) {
    Claim claim = by.claim(new Claim.Request("test", 100, 8_000_000, Duration.ofSeconds(30)));
    assertThat(claim.settle(all(claim, decision))).isEmpty();
    return claim.messages().stream().map(StoredMessage::key).toList();
  }

  private List<Archived> archived() {
    return store.archived(ALL, 1_000);
  }

  private List<String> archivedKeys() {
    return archived().stream().map(one -> one.message().key()).toList();
  }

  // ---- what it is for

  @Test
  @DisplayName("needs collections of its own: an outbox that is there gets them, and nothing else")
  void existing() {
    database.database.drop();
    MongoOutboxStore none = builder().build();
    none.migrate();
    none.verify();
    Map<String, String> before = database.catalog();
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessage(
            "there is no collection outbox_archive_schema: migrate the database first (outbox migrate --archive=full, or migrate() of the store)");
    MongoOutboxStore full = builder().archive(Archive.FULL).build();
    assertThatThrownBy(() -> settle(full, Decision.delivered()))
        .isInstanceOf(SchemaException.class);
    assertThatThrownBy(() -> none.archived(ALL, 1)).isInstanceOf(SchemaException.class);
    assertThatThrownBy(() -> none.audit(Instant.EPOCH, 1)).isInstanceOf(SchemaException.class);
    assertThat(none.hasArchive()).isFalse();
    append(message("a")); // who only appends needs no archive
    full.migrate();
    full.verify();
    assertThat(none.hasArchive()).isTrue();
    assertThat(database.catalog()).containsAllEntriesOf(before).hasSize(before.size() + 3);
    assertThat(settle(full, Decision.delivered())).hasSize(1);
    assertThat(none.archived(ALL, 10)).as("who keeps none may look").hasSize(1);
  }

  @Test
  @DisplayName("of a prefix that leaves no room for its names is refused, the outbox alone is not")
  void longPrefix() {
    MongoOutboxStore.Builder longest = builder().prefix("x".repeat(23));
    MongoOutboxStore none = longest.build();
    none.migrate();
    assertThat(none.hasArchive()).isFalse();
    assertThatThrownBy(() -> longest.archive(Archive.METADATA).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("23 characters, with an archive at most 22");
  }

  @Test
  @DisplayName("that is not kept costs not a command, in a settle, a discard and housekeeping")
  void none() {
    append(message("a"), message("b"));
    List<String> commands = new ArrayList<>();
    try (MongoClient recorded = database.telling(event -> commands.add(name(event)))) {
      MongoOutboxStore none = MongoOutboxStore.of(recorded, database.database.getName());
      Claim claim = none.claim(new Claim.Request("test", 100, 8_000_000, Duration.ofSeconds(30)));
      List<Long> sequences = claim.messages().stream().map(StoredMessage::sequence).toList();
      commands.clear();
      assertThat(
              claim.settle(
                  Map.of(
                      sequences.get(0), Decision.delivered(),
                      sequences.get(1), Decision.dead("rejected"))))
          .isEmpty();
      assertThat(commands)
          .containsExactly(
              "update outbox_bucket",
              "aggregate outbox_bucket",
              "delete outbox_message",
              "find outbox_message",
              "update outbox_message",
              "update outbox_bucket",
              "commitTransaction");
      commands.clear();
      assertThat(none.discard(sequences.get(1))).isTrue();
      assertThat(commands)
          .containsExactly(
              "find outbox_message",
              "find outbox_blocked_key",
              "delete outbox_message",
              "commitTransaction");
      commands.clear();
      none.housekeep();
      assertThat(none.findings()).isEmpty();
      assertThat(commands).isNotEmpty().noneMatch(command -> command.contains("archive"));
    }
    assertThat(archived()).isEmpty();
  }

  private static String name(CommandStartedEvent event) {
    BsonValue of = event.getCommand().get(event.getCommandName());
    return event.getCommandName() + (of.isString() ? " " + of.asString().getValue() : "");
  }

  // ---- what is in it

  @Test
  @DisplayName("has of a document only what is a message's, whatever else somebody put there")
  void foreignFields() {
    database
        .collection("outbox_message")
        .insertOne(
            TestDatabase.least("a")
                .append("answer", 1)
                .append("outcome", "UNKNOWN")
                .append("archivedAt", "yesterday")
                .append("secret", "s"));
    assertThat(settle(store, Decision.delivered())).containsExactly("order/a");
    Document archived = database.collection("outbox_archive_message").find().first();
    assertThat(archived)
        .containsEntry("outcome", "DELIVERED")
        .containsEntry("payload", "{}")
        .doesNotContainKeys("secret", "answer", "bucket", "status");
    assertThat(archived.get("archivedAt")).isInstanceOf(Date.class);
    assertThat(archived().get(0).message().message().payload()).isEqualTo("{}".getBytes());
  }

  @Test
  @DisplayName("takes a document whose _id another one had that left before")
  void sameId() {
    for (int i = 0; i < 2; i++) {
      database.collection("outbox_message").insertOne(TestDatabase.least("a").append("_id", 7));
      assertThat(settle(store, Decision.delivered())).hasSize(1);
    }
    assertThat(archivedKeys()).containsExactly("order/a", "order/a");
  }

  // ---- how long

  private Object secondsThere() {
    return database
        .collection("outbox_archive_message")
        .listIndexes()
        .into(new ArrayList<>())
        .stream()
        .filter(index -> index.getString("name").equals(ArchiveSchema.AGE))
        .findFirst()
        .orElseThrow()
        .get("expireAfterSeconds", Number.class)
        .longValue();
  }

  @Test
  @DisplayName("is tidied up by the server; who migrates and was told sets how long it is kept")
  void retention() {
    assertThat(secondsThere()).as("30 days, unless told otherwise").isEqualTo(30 * 86_400L);
    assertThat(store.findings()).allMatch(Finding::isFine);
    MongoOutboxStore shorter =
        builder().archive(Archive.METADATA).archiveRetention(Duration.ofMillis(86_399_001)).build();
    shorter.verify(); // a relay has no right to change it
    assertThat(shorter.findings())
        .extracting(Finding::text)
        .containsExactly(
            "the server keeps the archive (collection outbox_archive_message) for 30d, and this store was told 1d: migrate() of a store with the right retention sets it");
    shorter.migrate();
    assertThat(secondsThere()).as("rounded up to seconds").isEqualTo(86_400L);
    assertThat(shorter.findings()).allMatch(Finding::isFine);
    store.migrate();
    assertThat(secondsThere()).as("who was told nothing changes nothing").isEqualTo(86_400L);
    assertThat(store.findings()).allMatch(Finding::isFine);
    builder().archive(Archive.FULL).archiveRetention(FOREVER.getDuration()).build().migrate();
    assertThat(secondsThere()).as("the longest").isEqualTo((long) Integer.MAX_VALUE);
    append(message("a"));
    settle(store, Decision.delivered());
    store.housekeep();
    assertThat(archivedKeys()).containsExactly("order/a");
  }

  private void failedAgo(int days, String... aggregates) {
    for (String aggregate : aggregates) {
      database
          .collection("outbox_message")
          .updateMany(
              eq("aggregateId", aggregate),
              set("lastFailedAt", Date.from(Instant.now().minus(Duration.ofDays(days)))));
    }
  }

  @Test
  @DisplayName("large dead letters expire a few in a transaction, all in one round")
  void expiresInParts() {
    for (int i = 0; i < 3; i++) {
      append(
          IntStream.range(0, 3)
              .mapToObj(n -> message("large", 900_000))
              .toArray(OutboxMessage[]::new));
    }
    while (!settle(store, Decision.dead("rejected")).isEmpty()) {}
    failedAgo(10, "large");
    MongoOutboxStore expiring =
        builder().archive(Archive.METADATA).deadLetterRetention(Duration.ofDays(9)).build();
    expiring.housekeep();
    assertThat(store.deadLetters(0, 10)).isEmpty();
    assertThat(archived()).hasSize(9).noneMatch(Archived::whole);
    assertThat(archived().stream().map(Archived::at).distinct())
        .as("times, one for each transaction")
        .hasSizeGreaterThan(1);
  }

  @Test
  @DisplayName("dead letters expire also where there is none, but none whose time is odd")
  void expiresIntoNothing() {
    append(message("old"), message("odd"));
    settle(store, Decision.dead("rejected"));
    failedAgo(10, "old");
    database
        .collection("outbox_message")
        .updateOne(eq("aggregateId", "odd"), List.of(new Document("$unset", "lastFailedAt")));
    store.housekeep();
    assertThat(store.deadLetters(0, 10)).as("kept unless told otherwise").hasSize(2);
    builder().deadLetterRetention(Duration.ofDays(9)).build().housekeep();
    assertThat(store.deadLetters(0, 10))
        .extracting(letter -> letter.message().key())
        .containsExactly("order/odd");
    assertThat(archived()).isEmpty();
  }

  // ---- its schema

  @Nested
  @DisplayName("has a schema that")
  class OfItsOwn {
    private ArchiveSchema days(int days) {
      return database.archiveSchema("outbox_", Duration.ofDays(days));
    }

    @Test
    @DisplayName("is the same from Liquibase and from the script, which may be run again")
    void byHand() {
      store.migrate(); // once more
      try (TestDatabase other = TestDatabase.open()) {
        String script = store.ddl();
        other.run(script);
        other.run(script);
        assertThat(other.catalog()).isEqualTo(database.catalog());
        assertThat(other.catalog().get("outbox_archive_message"))
            .contains("\"age\"", "2592000", "\"moderate\"");
        MongoOutboxStore byHand =
            MongoOutboxStore.builder(other.client, other.database.getName())
                .archive(Archive.FULL)
                .build();
        byHand.verify();
        byHand.migrate(); // is there already
        assertThat(other.catalog()).isEqualTo(database.catalog());
      }
    }

    @Test
    @DisplayName("is not printed where none is kept, and with the retention where one is")
    void printed() {
      assertThat(builder().build().ddl()).doesNotContain("archive");
      assertThat(builder().archive(Archive.FULL).archiveRetention(Duration.ofDays(7)).build().ddl())
          .startsWith(builder().build().ddl())
          .contains("expireAfterSeconds: 604800")
          .doesNotContain("${");
    }

    @Test
    @DisplayName("several make at once, and whoever is interrupted is gone on from, version last")
    void atOnceAndInterrupted() throws Exception {
      Map<String, String> whole = database.catalog();
      for (String left : List.of("outbox_archive_message", "outbox_archive_audit", "none")) {
        for (String name : List.of("message", "audit", "schema", "databasechangelog")) {
          if (!left.equals("outbox_archive_" + name)) {
            database.collection("outbox_archive_" + name).drop();
          }
        }
        assertThatThrownBy(days(30)::verify).isInstanceOf(SchemaException.class);
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
          List<Callable<Void>> migrations =
              Collections.nCopies(
                  3,
                  () -> {
                    days(30).migrate();
                    return null;
                  });
          for (Future<Void> migration : threads.invokeAll(migrations)) {
            migration.get();
          }
        } finally {
          threads.shutdownNow();
        }
        days(30).verify();
        assertThat(database.catalog()).as("with %s left", left).isEqualTo(whole);
      }
    }

    @Test
    @DisplayName("is finished with another retention than it was begun with")
    void otherRetention() {
      database.collection("outbox_archive_audit").drop();
      assertThatThrownBy(days(7)::verify)
          .isInstanceOf(SchemaException.class)
          .hasMessageContaining("outbox_archive_audit has lost its indexes");
      days(7).migrate();
      days(7).verify();
      assertThat(secondsThere()).isEqualTo(7 * 86_400L);
      database.collection("outbox_archive_schema").deleteMany(new Document());
      database.collection("outbox_archive_databasechangelog").drop();
      days(8).migrate();
      days(8).verify();
      assertThat(secondsThere()).isEqualTo(8 * 86_400L);
    }

    @Test
    @DisplayName("is no outbox's nor inbox's, and theirs are not an archive's")
    void ofTheOthers() {
      assertRefused(
          () -> database.schema("outbox_archive_").migrate(),
          "collection outbox_archive_schema belongs to an archive, and an outbox needs collections of its own: give another prefix");
      assertRefused(
          () -> database.schema(CollectionKind.INBOX, "outbox_archive_").verify(),
          "collection outbox_archive_schema belongs to an archive, and an inbox needs collections of its own: give another prefix");
      database.schema("x_archive_").migrate();
      assertRefused(
          () -> database.archiveSchema("x_", Duration.ofDays(1)).migrate(),
          "collection x_archive_schema belongs to an outbox, and an archive needs collections of its own: give another prefix");
    }

    private void assertRefused(Runnable work, String sentence) {
      Map<String, String> before = database.catalog();
      assertThatThrownBy(work::run).isInstanceOf(SchemaException.class).hasMessage(sentence);
      assertThat(database.catalog()).isEqualTo(before);
    }
  }
}
