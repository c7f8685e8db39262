package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.bson.types.Code;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * What somebody writes into the collections stops nobody: a validator refuses it, or a relay
 * delivers it, or it becomes a dead letter with a sentence (A5, C7); and no document of the store's
 * own that was overwritten keeps a message from coming.
 */
@DisplayName("Hostile documents")
class HostileDocumentsTest extends StoreTests {
  /** What becomes of it. */
  private enum Fate {
    /** By a validator. */
    REFUSED,
    DELIVERED,
    DEAD,
    /** Not due while the test runs. */
    LATER
  }

  private record Hostile(String what, Fate fate, Runnable write) {}

  /** Of two chars, and of four bytes. */
  private static final String EMOJI = "\uD83D\uDCE6";

  private static final List<String> NASTY =
      List.of(
          "$where",
          "$key",
          "$$NOW",
          "a.b.$[]",
          "{\"$gt\":\"\"}",
          "'; db.dropDatabase(); //",
          "\u001B[2J\u202E\uFEFF\r\n",
          "a\u0085 ",
          " \n x ",
          EMOJI.repeat(255));

  private static final List<String> TEXTS =
      List.of(
          "aggregateType",
          "aggregateId",
          "eventType",
          "contentType",
          "dedupKey",
          "correlationId",
          "payload",
          "_own",
          "lastError");

  private final List<StoredMessage> delivered = new CopyOnWriteArrayList<>();
  private final List<String> storeFailures = new CopyOnWriteArrayList<>();

  /** Whether there is what damages are made to, and nothing has changed it. */
  private boolean undamaged;

  private MongoCollection<Document> in(String collection) {
    return database.collection("outbox_" + collection);
  }

  private static Document least() {
    return TestDatabase.least("hostile");
  }

  private static Document adopted(String status) {
    return least()
        .append("bucket", Documents.bucket("hostile"))
        .append("status", status)
        .append("key", "hostile")
        .append("id", new BsonBinary(UUID.randomUUID()));
  }

  private Hostile document(Fate fate, String what, Document document) {
    return new Hostile(what, fate, () -> in("message").insertOne(document));
  }

  private Hostile insert(Fate fate, String field, Object value) {
    return document(fate, field + " = " + value, least().append(field, value));
  }

  private Stream<Hostile> documents() {
    List<Hostile> all = new ArrayList<>();
    for (String text : NASTY) {
      Document document = least();
      TEXTS.forEach(field -> document.append(field, text));
      document.append("headers", List.of(new Document("name", text).append("value", text)));
      all.add(document(Fate.DELIVERED, "all texts = " + text, document));
      all.add(insert(Fate.DELIVERED, "partitionKey", text));
    }
    all.add(insert(Fate.DELIVERED, "headers", new Document("a.b", "c").append("d", "")));
    String blank = "a\0b";
    all.add(insert(Fate.DEAD, "eventType", blank));
    all.add(insert(Fate.DEAD, "correlationId", blank));
    all.add(insert(Fate.DEAD, "headers", List.of(new Document("name", blank).append("value", ""))));
    for (Object headers :
        Arrays.asList(
            List.of(1),
            List.of(List.of("a", "b")),
            List.of(new Document("name", "a")),
            List.of(new Document("name", 1).append("value", "v")),
            List.of(new Document("name", "").append("value", "v")),
            new Document("a", 1),
            new Document("a", null),
            new Document("a", new Document("b", "c")),
            new Document("a", "v".repeat(16_000)))) {
      all.add(insert(Fate.DEAD, "headers", headers));
    }
    all.add(insert(Fate.DEAD, "attempts", Integer.MAX_VALUE));
    for (Date date : List.of(new Date(Long.MIN_VALUE), new Date(0), new Date(Long.MAX_VALUE))) {
      all.add(insert(Fate.DELIVERED, "createdAt", date));
      all.add(insert(Fate.DELIVERED, "lastFailedAt", date));
    }
    for (byte[] vector : List.of(new byte[0], new byte[] {3, 0, 1})) {
      for (String field : List.of("_own", "payload", "_id")) {
        all.add(insert(Fate.DELIVERED, field, new BsonBinary(BsonBinarySubType.VECTOR, vector)));
      }
    }
    all.add(insert(Fate.DELIVERED, "availableMicros", 253370764799999999L));
    all.add(insert(Fate.DELIVERED, "availableAt", new Date(0)));
    for (BsonTimestamp seq :
        List.of(
            new BsonTimestamp(1, 1),
            new BsonTimestamp(0, 1),
            new BsonTimestamp(Integer.MAX_VALUE, -1))) {
      all.add(insert(Fate.DELIVERED, "seq", seq));
      all.add(document(Fate.DELIVERED, "PENDING " + seq, adopted("PENDING").append("seq", seq)));
      all.add(document(Fate.DEAD, "DEAD " + seq, adopted("DEAD").append("seq", seq)));
    }
    all.add(document(Fate.DEAD, "DEAD", adopted("DEAD")));
    all.add(document(Fate.DELIVERED, "BLOCKED", adopted("BLOCKED")));
    all.add(
        document(
            Fate.DELIVERED, "SCHEDULED", adopted("SCHEDULED").append("availableAt", new Date(0))));
    all.add(document(Fate.REFUSED, "SCHEDULED", adopted("SCHEDULED")));
    all.add(document(Fate.DELIVERED, "another key", adopted("PENDING").append("key", "other")));
    all.add(
        document(
            Fate.DELIVERED,
            "another bucket",
            adopted("PENDING").append("bucket", 63 - Documents.bucket("hostile"))));
    all.add(
        document(
            Fate.DELIVERED,
            "BLOCKED in another bucket",
            adopted("BLOCKED").append("bucket", 63 - Documents.bucket("hostile"))));
    return all.stream();
  }

  private Hostile damage(Fate fate, String collection, Bson change) {
    return new Hostile(
        collection + ": " + change, fate, () -> in(collection).updateMany(empty(), change));
  }

  private Hostile extra(Fate fate, String collection, Document document) {
    return new Hostile(
        collection + " + " + document.toJson(), fate, () -> in(collection).insertOne(document));
  }

  private Stream<Hostile> damages() {
    List<Hostile> all = new ArrayList<>();
    for (String field : List.of("token", "fence", "leaseUntil", "servedAt")) {
      all.add(damage(Fate.REFUSED, "bucket", unset(field)));
      for (Object value : Arrays.asList(null, "x", List.of(1), new Document())) {
        all.add(damage(Fate.REFUSED, "bucket", set(field, value)));
      }
    }
    for (String field : List.of("takeovers", "singles", "worker", "leasedAt", "fenced")) {
      all.add(damage(Fate.REFUSED, "bucket", set(field, List.of("x"))));
    }
    for (Object value : List.of(Long.MIN_VALUE, Long.MAX_VALUE, 1.5)) {
      all.add(damage(Fate.REFUSED, "bucket", set("token", value)));
      all.add(damage(Fate.REFUSED, "bucket", set("fence", value)));
    }
    for (Object value : List.of(Integer.MIN_VALUE, -1)) {
      all.add(damage(Fate.REFUSED, "bucket", set("takeovers", value)));
      all.add(damage(Fate.REFUSED, "bucket", set("singles", value)));
    }
    all.add(damage(Fate.DELIVERED, "bucket", set("takeovers", Integer.MAX_VALUE)));
    all.add(damage(Fate.DELIVERED, "bucket", set("singles", Integer.MAX_VALUE)));
    for (Date date : List.of(new Date(Long.MIN_VALUE), new Date(Long.MAX_VALUE))) {
      all.add(damage(Fate.DELIVERED, "bucket", set("servedAt", date)));
      all.add(damage(Fate.DELIVERED, "bucket", set("leasedAt", date)));
    }
    for (String field : List.of("claimId", "session")) {
      for (Object value : List.of("x", 1, new Document("a", 1))) {
        all.add(damage(Fate.DELIVERED, "bucket", set(field, value)));
      }
    }
    all.add(
        new Hostile(
            "63 buckets deleted",
            Fate.DELIVERED,
            () -> in("bucket").deleteMany(new Document("_id", new Document("$gt", 0)))));
    all.add(
        new Hostile(
            "no blocked keys", Fate.DELIVERED, () -> in("blocked_key").deleteMany(empty())));
    for (Object value : Arrays.asList(null, "x", 64, -1, 1.5, 5L)) {
      all.add(damage(Fate.REFUSED, "blocked_key", set("bucket", value)));
    }
    for (Object value : Arrays.asList(null, "x", 1L, List.of(new Date(0)))) {
      all.add(damage(Fate.REFUSED, "blocked_key", set("retryAt", value)));
      all.add(damage(Fate.REFUSED, "blocked_key", set("haltedBy", value)));
    }
    all.add(damage(Fate.REFUSED, "blocked_key", unset("retryAt")));
    all.add(damage(Fate.REFUSED, "blocked_key", unset("bucket")));
    all.add(damage(Fate.DELIVERED, "blocked_key", set("retryAt", new Date(Long.MIN_VALUE))));
    all.add(damage(Fate.DELIVERED, "blocked_key", set("haltedBy", new BsonTimestamp(1, 1))));
    all.add(damage(Fate.DELIVERED, "blocked_key", set("bucket", 63 - Documents.bucket("blocked"))));
    for (Object id : List.of(1, new Document("a", 1))) {
      all.add(
          extra(
              Fate.REFUSED,
              "blocked_key",
              new Document("_id", id).append("bucket", 1).append("retryAt", new Date(0))));
    }
    all.add(
        extra(
            Fate.DELIVERED,
            "blocked_key",
            new Document("_id", "").append("bucket", 1).append("retryAt", new Date(0))));
    all.add(
        extra(
            Fate.DELIVERED,
            "dedup",
            new Document("_id", "x").append("createdAt", new Date(Long.MAX_VALUE))));
    all.add(
        extra(
            Fate.DELIVERED,
            "dedup",
            new Document("_id", "y").append("createdAt", new Date(Long.MIN_VALUE))));
    all.add(extra(Fate.DELIVERED, "schema", new Document("_id", "another").append("version", "x")));
    return all.stream();
  }

  /** What a validator takes to the last character or byte, and nothing beyond. */
  private Stream<Hostile> limits() {
    List<Hostile> all = new ArrayList<>();
    all.add(insert(Fate.DELIVERED, "tenant", List.of(1, "x")));
    for (UUID id : List.of(new UUID(0, 0), new UUID(-1, -1))) {
      all.add(insert(Fate.DELIVERED, "id", new BsonBinary(id)));
    }
    for (Object id : List.of(new ObjectId(), new BsonBinary(UUID.randomUUID()), 7, 8L)) {
      all.add(insert(Fate.DELIVERED, "_id", id));
    }
    all.add(insert(Fate.DELIVERED, "maxAttempts", 1));
    all.add(insert(Fate.DELIVERED, "lastError", "x".repeat(100_000)));
    for (Object payload : List.of("", new Binary(new byte[1_000_000]), EMOJI.repeat(250_000))) {
      all.add(insert(Fate.DELIVERED, "payload", payload));
    }
    for (Object headers :
        List.of(List.of(), headers(100), headerMap(100), new Document("n", "v".repeat(15_999)))) {
      all.add(insert(Fate.DELIVERED, "headers", headers));
    }
    all.add(insert(Fate.LATER, "availableAt", date("9998-12-31T23:59:59.999Z")));
    String longestKey = EMOJI.repeat(511);
    all.add(
        document(Fate.DELIVERED, "the longest key", adopted("PENDING").append("key", longestKey)));
    all.add(refused("a longer key", adopted("PENDING").append("key", longestKey + "x")));
    for (String field : TestDatabase.least("").keySet()) {
      all.add(refused("no " + field, without(least(), field)));
    }
    for (String field : List.of("bucket", "status", "key")) {
      all.add(refused("adopted without " + field, without(adopted("PENDING"), field)));
      all.add(refused("only " + field, least().append(field, adopted("PENDING").get(field))));
    }
    for (Object bucket : List.of(64, -1, 1L)) {
      all.add(refused("bucket " + bucket, adopted("PENDING").append("bucket", bucket)));
    }
    all.add(refused("a status in lower case", adopted("pending")));
    all.add(refused("a blank key", adopted("PENDING").append("key", " ")));
    List<String> texts = new ArrayList<>(TEXTS.subList(0, 6));
    texts.add("partitionKey");
    for (String text : texts) {
      refuse(all, text, EMOJI.repeat(256), "", " \t\r\n ", null, 1);
    }
    refuse(all, "seq", 1L, new Date());
    refuse(
        all,
        "id",
        UUID.randomUUID().toString(),
        uuid(BsonBinarySubType.UUID_LEGACY, 16),
        uuid(BsonBinarySubType.BINARY, 16),
        uuid(BsonBinarySubType.UUID_STANDARD, 17));
    refuse(
        all,
        "payload",
        new Binary(new byte[1_000_001]),
        EMOJI.repeat(250_000) + "x",
        new Document("a", 1),
        new Code("x"));
    refuse(
        all,
        "headers",
        headers(101),
        headerMap(101),
        "{}",
        new Document("n", "v".repeat(100_000)),
        Collections.nCopies(2, "v".repeat(50_000)));
    refuse(
        all,
        "availableAt",
        date("1969-12-31T23:59:59.999Z"),
        date("9999-01-01T00:00:00Z"),
        1L,
        List.of(new Date(), new Date()));
    refuse(all, "availableMicros", -1L, 253370764800000001L, 1);
    refuse(all, "maxAttempts", 0, -1, 3L, 3.0, "3");
    refuse(all, "attempts", -1, 1L);
    refuse(all, "createdAt", "2026-01-31");
    refuse(all, "lastFailedAt", "now");
    refuse(all, "lastError", 1);
    refuse(all, "_id", new Document("a", 1), "x");
    all.add(document(Fate.DELIVERED, "the largest", large(least(), 4_000_000)));
    all.add(
        document(
            Fate.DEAD, "the largest", large(least().append("headers", List.of(1)), 4_000_000)));
    all.add(refused("a larger one", large(least(), 4_000_001)));
    for (Object bucket : List.of(64, -1, "1", 1.5)) {
      all.add(extra(Fate.REFUSED, "bucket", new Document("_id", bucket)));
    }
    all.add(extra(Fate.REFUSED, "dedup", new Document("_id", "x")));
    for (Object key : List.of(EMOJI.repeat(256), 1)) {
      all.add(
          extra(Fate.REFUSED, "dedup", new Document("_id", key).append("createdAt", new Date())));
    }
    all.add(extra(Fate.REFUSED, "dedup", new Document("_id", "x").append("createdAt", "now")));
    return all.stream();
  }

  private void refuse(List<Hostile> all, String field, Object... values) {
    for (Object value : values) {
      all.add(insert(Fate.REFUSED, field, value));
    }
  }

  private Hostile refused(String what, Document document) {
    return document(Fate.REFUSED, what, document);
  }

  private static Document without(Document document, String field) {
    Object removed = document.remove(field);
    return document;
  }

  /** With so many bytes in all. */
  private static Document large(Document document, int bytes) {
    document.append("_id", new ObjectId()).append("own", new byte[0]);
    return document.append("own", new byte[bytes - size(document)]);
  }

  private static int size(Document document) {
    BsonDocument bson = document.toBsonDocument();
    return new RawBsonDocument(bson, new BsonDocumentCodec()).getByteBuffer().remaining();
  }

  private static BsonBinary uuid(BsonBinarySubType subtype, int bytes) {
    return new BsonBinary(subtype, new byte[bytes]);
  }

  private static List<Document> headers(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Document("name", "n" + i).append("value", "v"))
        .toList();
  }

  private static Document headerMap(int count) {
    Document map = new Document();
    IntStream.range(0, count).forEach(i -> map.append("n" + i, "v"));
    return map;
  }

  private static Date date(String time) {
    return Date.from(Instant.parse(time));
  }

  @TestFactory
  @DisplayName("among the messages")
  Stream<DynamicTest> document() {
    return Stream.concat(documents(), limits())
        .map(hostile -> test(hostile, () -> tryDocument(hostile)));
  }

  @TestFactory
  @DisplayName("of the store's own")
  Stream<DynamicTest> damage() {
    return damages().map(hostile -> test(hostile, () -> tryDamage(hostile)));
  }

  private static DynamicTest test(Hostile hostile, Runnable test) {
    String plain = (hostile.what + ": " + hostile.fate).replaceAll("[^ -~]", "?");
    String name = plain.length() <= 120 ? plain : plain.substring(0, 120) + "...";
    return dynamicTest(
        name,
        () -> {
          try {
            test.run();
          } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(name + ": " + e, e);
          }
        });
  }

  private void tryDocument(Hostile hostile) {
    begin();
    if (isRefused(hostile)) {
      return;
    }
    in("message").insertOne(least());
    append("a", "b");
    assertThat(store.statistics(10_000).pending()).as("pending").isGreaterThanOrEqualTo(3);
    boolean comes = hostile.fate == Fate.DELIVERED;
    relay(comes ? 4 : 3);
    assertThat(delivered).as("delivered").hasSize(comes ? 4 : 3);
    List<DeadLetter> dead = store.deadLetters(0, 10);
    assertThat(dead).as("dead letters").hasSize(hostile.fate == Fate.DEAD ? 1 : 0);
    assertThat(store.statistics(10_000).dead()).isEqualTo(dead.size());
    for (DeadLetter letter : dead) {
      long sequence = letter.message().sequence();
      assertThat(store.requeue(sequence)).as("requeued").isTrue();
      relay(0);
      boolean again = !store.deadLetters(0, 10).isEmpty();
      assertThat(store.discard(sequence)).as("discarded").isEqualTo(again);
    }
    assertThat(in("message").countDocuments())
        .as("messages left")
        .isEqualTo(hostile.fate == Fate.LATER ? 1 : 0);
  }

  private void tryDamage(Hostile hostile) {
    if (!undamaged) {
      begin();
      append("blocked", "blocked", "a", "b");
      block();
    }
    undamaged = false;
    undamaged = isRefused(hostile);
    if (undamaged) {
      return;
    }
    in("blocked_key")
        .updateMany(
            new Document("retryAt", new Document("$gt", new Date())), set("retryAt", new Date(0)));
    append("c");
    relay(5);
    assertThat(delivered.stream().map(StoredMessage::key))
        .containsExactlyInAnyOrder("blocked", "blocked", "a", "b", "c");
    assertThat(in("blocked_key").countDocuments()).as("blocked keys left").isZero();
  }

  private void begin() {
    undamaged = false;
    for (String collection : List.of("message", "blocked_key", "dedup", "bucket")) {
      in(collection).deleteMany(empty());
    }
    in("schema").deleteMany(new Document("_id", "another"));
    store.housekeep(); // puts the buckets back
    delivered.clear();
    storeFailures.clear();
  }

  private void append(String... keys) {
    for (String key : keys) {
      database.append(store, TestDatabase.message(key).build());
    }
  }

  /** Whether a validator refuses it, as it is to. */
  private static boolean isRefused(Hostile hostile) {
    boolean refused = false;
    try {
      hostile.write.run();
    } catch (MongoException e) {
      assertThat(e).hasMessageContaining("failed validation");
      refused = true;
    }
    assertThat(refused).as("refused").isEqualTo(hostile.fate == Fate.REFUSED);
    return refused;
  }

  /** The key "blocked" waits for a day. */
  private void block() {
    Claim claim = store.claim(new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1)));
    long head =
        claim.messages().stream()
            .filter(message -> message.key().equals("blocked"))
            .findFirst()
            .orElseThrow()
            .sequence();
    assertThat(claim.settle(Map.of(head, Decision.retryUncounted(Duration.ofDays(1), "refused"))))
        .isEmpty();
  }

  /** Runs a relay until it has delivered so many, or has had its chance. */
  private void relay(int expected) {
    try (Relay relay =
        Relay.builder(store, this::publish)
            .retryPolicy(RetryPolicy.builder().maxAttempts(1).build())
            .listener(
                event -> {
                  if (event instanceof RelayEvent.StoreFailed failed) {
                    storeFailures.add(failed.operation() + ": " + failed.error());
                  }
                })
            .build()) {
      for (int round = 0; round < 2 || (round < 66 && delivered.size() < expected); round++) {
        relay.runOnce();
        store.housekeep();
      }
      relay.runOnce();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(storeFailures).as("what the store threw").isEmpty();
  }

  private List<Result> publish(List<StoredMessage> messages) {
    delivered.addAll(messages);
    return messages.stream().map(m -> Result.delivered()).toList();
  }
}
