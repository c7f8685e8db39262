package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.ne;
import static com.mongodb.client.model.Updates.set;
import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.core.internal.PrefixedNames;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.bson.BsonBinary;
import org.bson.Document;

/**
 * Messages in every state that a claim can meet, put back for each case; and a relay that goes on
 * after what failed, knows what was promised, and looks whether it is kept.
 */
final class FaultStage implements AutoCloseable {
  static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration LATER = Duration.ofHours(2);
  private static final int MOST_ROUNDS = 40;

  /**
   * Much longer than the leases of clients that stop, and less than {@code
   * transactionLifetimeLimitSeconds}.
   */
  private static final Duration SOON = Duration.ofSeconds(25);

  final TestDatabase database = TestDatabase.open();
  final Faults faults = new Faults(database.client, database.server.address());

  /** What is tested, on the client whose commands fail. */
  MongoOutboxStore store = store();

  /** Whether it keeps what leaves; the other relay always does. */
  private boolean archives;

  /** Another relay, for which all goes well. */
  final MongoOutboxStore steady = archiving(database.client);

  final OutboxCollections collections =
      OutboxCollections.of(
          database.client,
          database.database.getName(),
          new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX));

  private final Map<MongoCollection<Document>, List<Document>> template = new LinkedHashMap<>();
  private final Promises atFirst;
  Promises promises = new Promises();

  /** Sequences of the dead letters: one that halts its key, and one that does not. */
  final long halting;

  final long dead;

  FaultStage() {
    steady.migrate();
    build();
    for (MongoCollection<Document> collection :
        List.of(
            collections.message(),
            collections.bucket(),
            collections.blockedKey(),
            collections.dedup(),
            database.collection("outbox_archive_message"))) {
      template.put(collection, collection.find().into(new ArrayList<>()));
    }
    atFirst = promises.copy();
    halting = deadLetter("halted");
    dead = deadLetter("dead");
  }

  private long deadLetter(String key) {
    return steady.deadLetters(0, 100).stream()
        .map(DeadLetter::message)
        .filter(message -> message.key().equals(key))
        .findFirst()
        .orElseThrow()
        .sequence();
  }

  private void build() {
    commit(message("fails"), message("goes on"), message("halted"), message("dead"));
    decide(
        Map.of(
            "fails", Decision.retry(Duration.ZERO, "failed"),
            "goes on", Decision.retryUncounted(Duration.ZERO, "unavailable"),
            "halted", Decision.deadHaltingKey("rejected"),
            "dead", Decision.dead("rejected")));
    commit(message("fails"), message("goes on"), message("goes on"), message("halted"));
    decide(
        Map.of(
            "fails", Decision.retry(Duration.ZERO, "failed"),
            "goes on", Decision.delivered()));
    commit(
        message("plain"),
        OutboxMessage.builder()
            .aggregate("order", "plain")
            .eventType("Large")
            .payload(new byte[200_000])
            .build(),
        message("plain"),
        message("other"),
        message("fails"),
        message("halted"));
    commit(
        OutboxMessage.builder()
            .aggregate("order", "delayed")
            .eventType("Delayed")
            .payload("{}")
            .deliverAfter(Duration.ofMillis(1))
            .build());
    insertOne("by hand", null);
    insertOne("by hand", null);
    commit(message("by hand"));
    insertOne("by hand, later", Date.from(now().plus(LATER)));
    int bucket = Documents.bucket("with nothing");
    collections
        .blockedKey()
        .insertOne(
            new Document("_id", "with nothing")
                .append("bucket", bucket)
                .append("retryAt", Date.from(now())));
    collections.dedup().insertOne(taken("taken", now()));
    collections.dedup().insertOne(taken("long ago", now().minus(Duration.ofDays(30))));
  }

  private static Document taken(String key, Instant at) {
    return new Document("_id", key).append("createdAt", Date.from(at));
  }

  /** Claims all there is, and decides by key; what is not named is released as it was. */
  private void decide(Map<String, Decision> byKey) {
    Claim claim = steady.claim(request());
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      Decision decision = byKey.get(message.key());
      if (decision != null) {
        decisions.put(message.sequence(), decision);
        promises.decided(message, decision);
      }
    }
    assertThat(decisions).as("of %s", claim.messages()).hasSameSizeAs(byKey);
    assertThat(claim.settle(decisions)).isEmpty();
  }

  static OutboxMessage message(String key) {
    return TestDatabase.message(key).build();
  }

  static Claim.Request request() {
    return new Claim.Request("relay", 100, 4_000_000, LEASE);
  }

  private void commit(OutboxMessage... messages) {
    database.append(steady, messages);
    promises.committed(List.of(messages));
  }

  private void insertOne(String key, Date availableAt) {
    UUID id = UUID.randomUUID();
    Document document =
        TestDatabase.least(key).append("id", new BsonBinary(id)).append("partitionKey", key);
    if (availableAt != null) {
      document.append("availableAt", availableAt);
    }
    collections.message().insertOne(document);
    promises.committed(id, key, availableAt != null);
  }

  /** Of a message that was there at first. */
  UUID idOf(long sequence) {
    return template.get(collections.message()).stream()
        .filter(message -> Documents.sequence(message) == sequence)
        .map(message -> Documents.uuid(message.get("id")))
        .findFirst()
        .orElseThrow();
  }

  Instant now() {
    return database.schema(PrefixedNames.DEFAULT_PREFIX).now();
  }

  /** Keeps what leaves. */
  private MongoOutboxStore archiving(MongoClient client) {
    return MongoOutboxStore.builder(client, database.database.getName())
        .archive(Archive.FULL)
        .build();
  }

  /** The store that is tested keeps what leaves, until {@link #restore}. */
  void archive() {
    store = archiving(faults.client);
    archives = true;
  }

  /** All that has left, in its order. */
  List<Archived> archived() {
    return steady.archived(
        Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z")), 1_000);
  }

  private MongoOutboxStore store() {
    return MongoOutboxStore.of(faults.client, database.database.getName());
  }

  /** As {@link #restore}, and nothing that is delayed is due later. */
  void restoreAllDue() {
    restore();
    collections.message().updateMany(ne("availableAt", null), set("availableAt", Date.from(now())));
  }

  /** As it was before the first case. */
  void restore() {
    template.forEach(
        (collection, documents) -> {
          collection.deleteMany(empty());
          collection.insertMany(documents);
        });
    database.collection("outbox_archive_audit").deleteMany(empty());
    archives = false;
    promises = atFirst.copy();
    store = store(); // one that knows neither the schema nor the time
  }

  /** Whatever failed, no lease lasts longer than was asked for. */
  void assertLeasesEnd() {
    Instant most = now().plus(LEASE).plus(LEASE.dividedBy(4)).plusMillis(1);
    for (Document bucket : collections.bucket().find()) {
      assertThat(bucket.getDate("leaseUntil")).as("%s", bucket).isBefore(Date.from(most));
    }
  }

  /** As {@link #drainAsTimePasses}, but time passes at once. */
  void drain() {
    drain(
        rounds -> {
          assertThat(rounds).as("rounds; left: %s", left()).isLessThan(MOST_ROUNDS);
          moveClock(LATER);
        });
  }

  /** Long before the server itself would end an idle transaction. */
  void drainAsTimePasses() {
    long began = System.nanoTime();
    drain(
        rounds -> {
          assertThat(Duration.ofNanos(System.nanoTime() - began))
              .as("since the stop; left: %s", left())
              .isLessThan(SOON);
          LockSupport.parkNanos(10_000_000);
        });
  }

  /** All dead letters are requeued, and a relay whose broker takes all goes on to the end. */
  private void drain(IntConsumer whenNothingComes) {
    steady.deadLetters(0, 100).stream()
        .map(DeadLetter::message)
        .forEach(
            letter -> {
              assertThat(steady.requeue(letter.sequence())).isTrue();
              promises.requeued(letter.message().id());
            });
    for (int i = 0; collections.message().countDocuments() > 0; i++) {
      if (deliverNext() == 0) {
        whenNothingComes.accept(i);
      }
    }
    promises.assertKept();
    assertNothingLeased();
    if (archives) {
      assertThat(archived().stream().map(one -> one.message().message().id()))
          .as("archived: all that has left, once (S7)")
          .containsExactlyInAnyOrderElementsOf(promises.left());
    }
  }

  /** Another relay delivers what it gets. Returns how many that were. */
  int deliverNext() {
    Claim claim = steady.claim(request());
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      promises.assertAttempts(message);
      promises.decided(message, Decision.delivered());
      decisions.put(message.sequence(), Decision.delivered());
    }
    assertThat(claim.settle(decisions)).as("lost, though nobody else claims").isEmpty();
    return decisions.size();
  }

  private List<String> left() {
    return collections.message().find().into(new ArrayList<>()).stream()
        .map(Document::toJson)
        .map(json -> json.substring(0, Math.min(500, json.length())))
        .toList();
  }

  void assertNothingLeased() {
    assertThat(collections.bucket().countDocuments(gt("leaseUntil", Date.from(now()))))
        .as("buckets that are still leased")
        .isZero();
  }

  /** As if this time had passed: leases run out, and what is delayed becomes due. */
  private void moveClock(Duration by) {
    faults.endTransactions();
    MongoStoreTck.earlier(collections.bucket(), empty(), by, "leasedAt", "leaseUntil");
    MongoStoreTck.earlier(collections.blockedKey(), empty(), by, "retryAt");
    MongoStoreTck.earlier(collections.message(), empty(), by, "availableAt");
  }

  @Override
  public void close() {
    faults.close();
    database.close();
  }
}
