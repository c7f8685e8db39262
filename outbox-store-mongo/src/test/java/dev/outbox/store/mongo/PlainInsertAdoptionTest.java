package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;
import static dev.outbox.store.mongo.TestDatabase.least;
import static dev.outbox.store.mongo.TestDatabase.message;
import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.InsertOneOptions;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.mongo.Faults.Sent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonBinary;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.types.Binary;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Documents by plain {@code insertOne} (A6), also such as no library would write. */
class PlainInsertAdoptionTest extends StoreTests {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final int MOST_CLAIMS = 60;

  private MongoCollection<Document> messages;

  @BeforeEach
  void reset() {
    messages = database.collection("outbox_message");
    messages.deleteMany(empty());
    database.collection("outbox_blocked_key").deleteMany(empty());
    database
        .collection("outbox_bucket")
        .updateMany(
            empty(),
            combine(
                set("leaseUntil", new Date(0)),
                set("takeovers", 0),
                set("singles", 0),
                unset("claimId"),
                unset("session"),
                unset("leasedAt")));
  }

  private static Document document(String key) {
    return least(key)
        .append("partitionKey", key)
        .append("payload", new Binary(new byte[] {1, 2, 3}));
  }

  private UUID append(String key) {
    OutboxMessage message = message(key).build();
    database.append(store, message);
    return message.id();
  }

  private static Claim.Request request() {
    return new Claim.Request("relay", 100, 4_000_000, LEASE);
  }

  /** Delivers all there is, whatever its shape. Returns it in the order of deliveries. */
  private List<StoredMessage> drain() {
    List<StoredMessage> delivered = new ArrayList<>();
    for (int i = 0; i < MOST_CLAIMS; i++) {
      Claim claim = store.claim(request());
      if (claim.messages().isEmpty() && !claim.pollAgain()) {
        return delivered;
      }
      delivered.addAll(claim.messages());
      assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
    }
    throw new AssertionError("there is always more after " + MOST_CLAIMS + " claims");
  }

  private OutboxMessage only() {
    List<StoredMessage> delivered = drain();
    assertThat(delivered).hasSize(1);
    return delivered.get(0).message();
  }

  @Test
  @DisplayName("without id: it gets one, which stays the same when it is handed out again")
  void stableId() {
    messages.insertOne(document("a"));
    Claim first = store.claim(request());
    UUID id = first.messages().get(0).message().id();
    assertThat(first.settle(all(first, Decision.retry(Duration.ZERO, "failed")))).isEmpty();
    Claim second = store.claim(request());
    assertThat(second.messages().get(0).message().id()).isEqualTo(id);
    assertThat(second.messages().get(0).attempts()).isEqualTo(1);
    assertThat(second.settle(Map.of())).isEmpty();
    assertThat(only().id()).isEqualTo(id);
  }

  @Test
  @DisplayName("with headers as a document and the payload as a string")
  void otherForms() {
    messages.insertOne(
        document("a")
            .append("headers", new Document("b", "1").append("a", "ä"))
            .append("payload", "{\"text\":\"ü\"}"));
    OutboxMessage message = only();
    assertThat(message.headers()).containsExactly(new Header("b", "1"), new Header("a", "ä"));
    assertThat(new String(message.payload(), java.nio.charset.StandardCharsets.UTF_8))
        .isEqualTo("{\"text\":\"ü\"}");
    assertThat(message.contentType()).isEqualTo(OutboxMessage.DEFAULT_CONTENT_TYPE);
  }

  @Test
  @DisplayName("without a time: it was appended at its sequence's, whatever time is asked for")
  void appendedBefore() {
    messages.insertOne(document("a"));
    Map<String, Integer> found = new TreeMap<>();
    for (String time :
        List.of("1969-12-31", "1970-01-01", "2020-01-01", "2100-01-01", "2107-01-01")) {
      Instant before = Instant.parse(time + "T00:00:00Z");
      Query query = new Query(null, null, null, null, null, null, null, before, null, 10);
      found.put(time, store.messages(query).found().size());
    }
    assertThat(found)
        .isEqualTo(
            Map.of(
                "1969-12-31",
                0,
                "1970-01-01",
                0,
                "2020-01-01",
                0,
                "2100-01-01",
                1,
                "2107-01-01",
                1));
  }

  @Test
  @DisplayName("more than a claim adopts, with appended ones of the same keys between and behind")
  void many() {
    int keys = 7;
    Map<String, List<UUID>> expected = new HashMap<>();
    for (int part = 0; part < 2; part++) {
      List<Document> some = new ArrayList<>();
      for (int i = 0; i < 700; i++) {
        UUID id = UUID.randomUUID();
        String key = "key " + i % keys;
        some.add(document(key).append("id", new BsonBinary(id)));
        expected.computeIfAbsent(key, k -> new ArrayList<>()).add(id);
      }
      messages.insertMany(some);
      for (int i = 0; i < keys; i++) {
        expected.get("key " + i).add(append("key " + i));
      }
    }
    Map<String, List<UUID>> delivered = new HashMap<>();
    for (StoredMessage message : drain()) {
      delivered.computeIfAbsent(message.key(), k -> new ArrayList<>()).add(message.message().id());
    }
    assertThat(delivered).isEqualTo(expected);
  }

  @Test
  @DisplayName("inserted after a claim has looked for such: it holds back what was appended then")
  void betweenLookAndRead() {
    Stopping stopping = new Stopping();
    try (MongoClient client = database.client(stopping)) {
      MongoOutboxStore stalled = MongoOutboxStore.of(client, database.database.getName());
      stalled.verify();
      UUID first = append("a");
      Stopping.Operation<Claim> claiming =
          stopping.before(new Sent("update", 1), () -> stalled.claim(request()));
      UUID second = UUID.randomUUID();
      messages.insertOne(document("a").append("id", new BsonBinary(second)));
      UUID third = append("a");
      Claim claim = claiming.wake();
      List<StoredMessage> delivered = new ArrayList<>(claim.messages());
      assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
      delivered.addAll(drain());
      assertThat(delivered)
          .extracting(message -> message.message().id())
          .containsExactly(first, second, third);
    }
  }

  private record Shape(String name, Document document) {
    @Override
    public String toString() {
      return name;
    }
  }

  /** Past the validator, as by {@code bypassDocumentValidation} or before there was one. */
  static Stream<Shape> shapes() {
    int bucket = Documents.bucket("good");
    Document adopted =
        document("good").append("bucket", bucket).append("status", "PENDING").append("key", "good");
    List<Shape> shapes = new ArrayList<>();
    Stream.of("seq", "aggregateType", "aggregateId", "eventType", "payload")
        .forEach(field -> shapes.add(without(document("bad"), field)));
    for (Object value : Arrays.asList(null, 5, 5L, 5.5, "", "text", new Date(0), List.of(1))) {
      for (String field :
          List.of("seq", "id", "partitionKey", "aggregateId", "availableAt", "headers")) {
        shapes.add(with(document("bad"), field, value));
      }
      for (String field : List.of("seq", "bucket", "status", "key", "attempts", "availableAt")) {
        shapes.add(with(adopted, field, value));
        shapes.add(with(new Document(adopted).append("status", "SCHEDULED"), field, value));
      }
    }
    shapes.add(with(document("bad"), "aggregateId", new Document("a", 1)));
    shapes.add(with(document("bad"), "aggregateId", new ObjectId()));
    shapes.add(with(document("bad"), "aggregateId", "x".repeat(5_000)));
    shapes.add(with(document("bad"), "id", new Binary((byte) 3, new byte[16])));
    shapes.add(with(document("bad"), "payload", new Binary(new byte[2_000_000])));
    shapes.add(with(document("bad"), "_id", new Document("a", 1)));
    shapes.add(with(document("bad"), "seq", new BsonTimestamp(1, 1)));
    shapes.add(with(document("bad"), "seq", new BsonTimestamp(-1, -1)));
    shapes.add(with(document("bad").append("bucket", null), "status", null));
    for (String field : List.of("seq", "bucket", "status", "key")) {
      shapes.add(without(adopted, field));
    }
    shapes.add(with(adopted, "bucket", 64));
    shapes.add(with(adopted, "bucket", -1));
    shapes.add(with(adopted, "bucket", (double) bucket));
    shapes.add(with(adopted, "bucket", (long) bucket));
    shapes.add(with(adopted, "attempts", Long.MAX_VALUE));
    return shapes.stream();
  }

  private static Shape with(Document document, String field, Object value) {
    String type = value == null ? "" : " of type " + value.getClass().getSimpleName();
    String text = String.valueOf(value);
    return new Shape(
        "%s, %s: %s%s"
            .formatted(
                document.getOrDefault("status", "not adopted"),
                field,
                text.substring(0, Math.min(30, text.length())),
                type),
        new Document(document).append(field, value));
  }

  private static Shape without(Document document, String field) {
    Document less = new Document(document);
    less.remove(field);
    return new Shape(document.getOrDefault("status", "not adopted") + " without " + field, less);
  }

  @ParameterizedTest
  @MethodSource("shapes")
  @DisplayName("of a bad shape past the validator: claims go on with all others")
  void badShape(Shape shape) {
    UUID before = append("good");
    messages.insertOne(
        new Document(shape.document()), new InsertOneOptions().bypassDocumentValidation(true));
    UUID after = append("good");
    UUID byHand = UUID.randomUUID();
    messages.insertOne(document("other").append("id", new BsonBinary(byHand)));
    assertThat(store.statistics(10_000).pending()).isPositive();
    assertThat(store.deadLetters(0, 10)).isEmpty();
    List<UUID> ids =
        drain().stream()
            .filter(message -> message.problem() == null)
            .map(message -> message.message().id())
            .filter(List.of(before, after, byHand)::contains)
            .toList();
    assertThat(ids).containsOnlyOnce(before, after, byHand);
    assertThat(ids.indexOf(before)).isLessThan(ids.indexOf(after));
  }

  @ParameterizedTest
  @MethodSource("twice")
  @DisplayName("with a sequence that another has too: each has its own decision")
  void sameSequence(List<Status> statuses) {
    BsonTimestamp twice = new BsonTimestamp((int) (System.currentTimeMillis() / 1000), 1);
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < statuses.size(); i++) {
      UUID id = UUID.randomUUID();
      ids.add(id);
      String key = "key " + i;
      Document document = document(key).append("seq", twice).append("id", new BsonBinary(id));
      Status status = statuses.get(i);
      document
          .append("bucket", Documents.bucket(key))
          .append("status", status.name())
          .append("key", key);
      if (status == Status.SCHEDULED) {
        document.append("availableAt", new Date(0));
      } else if (status == Status.BLOCKED) {
        database
            .collection("outbox_blocked_key")
            .insertOne(
                new Document("_id", key)
                    .append("bucket", Documents.bucket(key))
                    .append("retryAt", new Date(0)));
      }
      messages.insertOne(document);
    }
    Map<UUID, Integer> deliveries = new HashMap<>();
    for (int i = 0; i < MOST_CLAIMS && messages.countDocuments() > 0; i++) {
      Claim claim = store.claim(request());
      assertThat(claim.messages()).extracting(StoredMessage::sequence).doesNotHaveDuplicates();
      claim.messages().forEach(m -> deliveries.merge(m.message().id(), 1, Integer::sum));
      assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
    }
    assertThat(deliveries.keySet()).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(deliveries.values()).containsOnly(1);
  }

  static Stream<List<Status>> twice() {
    return Stream.of(
        List.of(Status.PENDING, Status.PENDING, Status.PENDING),
        List.of(Status.PENDING, Status.SCHEDULED),
        List.of(Status.SCHEDULED, Status.SCHEDULED),
        List.of(Status.PENDING, Status.BLOCKED),
        List.of(Status.SCHEDULED, Status.BLOCKED),
        List.of(Status.BLOCKED, Status.BLOCKED));
  }

  @Test
  @DisplayName("with a sequence that another of its key has too: both are delivered")
  void sameSequenceOfOneKey() {
    BsonTimestamp twice = new BsonTimestamp((int) (System.currentTimeMillis() / 1000), 1);
    IntStream.range(0, 3).forEach(i -> messages.insertOne(document("a").append("seq", twice)));
    assertThat(drain()).hasSize(3);
  }
}
