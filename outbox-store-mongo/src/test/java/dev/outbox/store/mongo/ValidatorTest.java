package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoCollection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.UuidRepresentation;
import org.bson.types.Binary;
import org.bson.types.Code;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A document by plain insertOne")
class ValidatorTest {
  private static final List<String> TEXTS =
      List.of(
          "aggregateType",
          "aggregateId",
          "eventType",
          "partitionKey",
          "contentType",
          "dedupKey",
          "correlationId");

  /** Of two chars, and of four bytes. */
  private static final String EMOJI = "\uD83D\uDE00";

  private static TestDatabase database;
  private MongoCollection<Document> messages;

  @BeforeEach
  void open() {
    if (database == null) {
      database = TestDatabase.open();
      database.schema("outbox_").migrate();
    }
    messages = database.collection("outbox_message");
  }

  @AfterAll
  static void close() {
    if (database != null) {
      database.close();
      database = null;
    }
  }

  private static Document least() {
    return TestDatabase.least("order-1");
  }

  private static Document with(String field, Object value) {
    return least().append(field, value);
  }

  private static Document adopted() {
    return least().append("bucket", 63).append("status", "PENDING").append("key", "order-1");
  }

  private static Arguments given(String what, Document document) {
    return Arguments.of(what, document);
  }

  private static Object uuid(BsonBinarySubType subtype, int bytes) {
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

  static Stream<Arguments> allowed() {
    List<Arguments> allowed = new ArrayList<>();
    allowed.add(given("nothing but what is required", least()));
    allowed.add(given("a field of the producer's own", with("tenant", List.of(1, "x"))));
    for (String text : TEXTS) {
      allowed.add(given(text + " of 255 code points", with(text, EMOJI.repeat(255))));
      allowed.add(given(text + " with spaces around", with(text, " \n x ")));
    }
    allowed.add(given("an id", with("id", new BsonBinary(UUID.randomUUID()))));
    allowed.add(given("the lowest id", with("id", uuid(BsonBinarySubType.UUID_STANDARD, 16))));
    allowed.add(
        given(
            "the highest id",
            with("id", new BsonBinary(new UUID(-1, -1), UuidRepresentation.STANDARD))));
    for (Object id : List.of(new ObjectId(), new BsonBinary(UUID.randomUUID()), 7, 8L)) {
      allowed.add(given("_id " + id.getClass().getSimpleName(), with("_id", id)));
    }
    allowed.add(given("a key of 511 code points", adopted().append("key", EMOJI.repeat(511))));
    allowed.add(given("one attempt at most", with("maxAttempts", 1)));
    allowed.add(given("no payload's byte", with("payload", "")));
    allowed.add(given("1,000,000 bytes", with("payload", new Binary(new byte[1_000_000]))));
    allowed.add(given("1,000,000 bytes as text", with("payload", EMOJI.repeat(250_000))));
    allowed.add(given("no header", with("headers", List.of())));
    allowed.add(given("100 headers", with("headers", headers(100))));
    allowed.add(given("100 headers by name", with("headers", headerMap(100))));
    allowed.add(
        given("16,000 bytes of headers", with("headers", new Document("n", "v".repeat(15_999)))));
    allowed.add(given("headers that are none", with("headers", List.of(1, "x", new Document()))));
    allowed.add(given("a time of creation", with("createdAt", new Date(-1))));
    for (String time : List.of("1970-01-01T00:00:00Z", "9998-12-31T23:59:59.999Z")) {
      allowed.add(given("available at " + time, with("availableAt", date(time))));
    }
    allowed.add(given("microseconds", with("availableMicros", 253370764799999999L)));
    allowed.add(given("the library's own", adopted()));
    for (String status : List.of("SCHEDULED", "BLOCKED", "DEAD")) {
      allowed.add(
          given(status, adopted().append("status", status).append("availableAt", new Date())));
    }
    allowed.add(
        given(
            "one that failed",
            adopted()
                .append("attempts", Integer.MAX_VALUE)
                .append("lastError", "x".repeat(100_000))
                .append("lastFailedAt", new Date())));
    return allowed.stream();
  }

  private static Date date(String time) {
    return Date.from(Instant.parse(time));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  @DisplayName("is taken with")
  void allowed(String what, Document document) {
    assertThatCode(() -> messages.insertOne(document)).doesNotThrowAnyException();
  }

  static Stream<Arguments> refused() {
    List<Arguments> refused = new ArrayList<>();
    for (String field : least().keySet()) {
      Document without = least();
      without.remove(field);
      refused.add(given("no " + field, without));
    }
    for (String text : TEXTS) {
      refused.add(given(text + " of 256 code points", with(text, EMOJI.repeat(256))));
      refused.add(given(text + " empty", with(text, "")));
      refused.add(given(text + " blank", with(text, " \t\r\n ")));
      refused.add(given(text + " of null", with(text, null)));
      refused.add(given(text + " as a number", with(text, 1)));
    }
    refused.add(given("a sequence of its own as a number", with("seq", 1L)));
    refused.add(given("a sequence as a date", with("seq", new Date())));
    refused.add(given("an id as text", with("id", UUID.randomUUID().toString())));
    refused.add(given("an old id", with("id", uuid(BsonBinarySubType.UUID_LEGACY, 16))));
    refused.add(given("a binary id", with("id", uuid(BsonBinarySubType.BINARY, 16))));
    refused.add(given("an id of 17 bytes", with("id", uuid(BsonBinarySubType.UUID_STANDARD, 17))));
    refused.add(given("1,000,001 bytes", with("payload", new Binary(new byte[1_000_001]))));
    refused.add(given("1,000,001 bytes as text", with("payload", EMOJI.repeat(250_000) + "x")));
    refused.add(given("a payload that is a document", with("payload", new Document("a", 1))));
    refused.add(given("a payload that is code", with("payload", new Code("x"))));
    refused.add(given("101 headers", with("headers", headers(101))));
    refused.add(given("101 headers by name", with("headers", headerMap(101))));
    refused.add(given("headers as text", with("headers", "{}")));
    refused.add(
        given("100,000 bytes of headers", with("headers", new Document("n", "v".repeat(100_000)))));
    refused.add(
        given(
            "100,000 bytes of headers in a list",
            with("headers", Collections.nCopies(2, "v".repeat(50_000)))));
    refused.add(given("a time of creation as text", with("createdAt", "2026-01-31")));
    for (String time : List.of("1969-12-31T23:59:59.999Z", "9999-01-01T00:00:00Z")) {
      refused.add(given("available at " + time, with("availableAt", date(time))));
    }
    refused.add(given("available at a number", with("availableAt", 1L)));
    refused.add(given("two times", with("availableAt", List.of(new Date(), new Date()))));
    refused.add(given("negative microseconds", with("availableMicros", -1L)));
    refused.add(given("microseconds after 9998", with("availableMicros", 253370764800000001L)));
    refused.add(given("microseconds as an int", with("availableMicros", 1)));
    for (String field : List.of("bucket", "status", "key")) {
      Document without = adopted();
      without.remove(field);
      refused.add(given("status, bucket, key without " + field, without));
      refused.add(given("only " + field, with(field, adopted().get(field))));
    }
    refused.add(given("bucket 64", adopted().append("bucket", 64)));
    refused.add(given("bucket -1", adopted().append("bucket", -1)));
    refused.add(given("a bucket as a long", adopted().append("bucket", 1L)));
    refused.add(given("a status in lower case", adopted().append("status", "pending")));
    refused.add(given("a key of 512 code points", adopted().append("key", EMOJI.repeat(512))));
    for (Object value : List.of(0, -1, 3L, 3.0, "3")) {
      refused.add(given("maxAttempts " + value.getClass() + value, with("maxAttempts", value)));
    }
    refused.add(given("a blank key", adopted().append("key", " ")));
    refused.add(given("-1 attempts", with("attempts", -1)));
    refused.add(given("attempts as a long", with("attempts", 1L)));
    refused.add(given("an error as a number", with("lastError", 1)));
    refused.add(given("a time of failure as text", with("lastFailedAt", "now")));
    refused.add(given("an _id that is a document", with("_id", new Document("a", 1))));
    refused.add(given("an _id that is a text", with("_id", "x")));
    refused.add(given("SCHEDULED without a time", adopted().append("status", "SCHEDULED")));
    refused.add(given("4 MB of the producer's own", with("own", new byte[4_000_000])));
    return refused.stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource
  @DisplayName("is refused with")
  void refused(String what, Document document) {
    assertThatThrownBy(() -> messages.insertOne(document))
        .isInstanceOf(MongoWriteException.class)
        .hasMessageContaining("failed validation");
  }

  @Test
  @DisplayName("gets its sequence from the server")
  void sequence() {
    Document document = least().append("aggregateId", "sequence");
    messages.insertOne(document);
    assertThat(
            messages
                .find(new Document("_id", document.get("_id")))
                .first()
                .get("seq", BsonTimestamp.class)
                .getTime())
        .isPositive();
  }

  @Test
  @DisplayName("is refused among the dedup keys without a time, and among the buckets above 63")
  void others() {
    MongoCollection<Document> dedup = database.collection("outbox_dedup");
    dedup.insertOne(new Document("_id", EMOJI.repeat(255)).append("createdAt", new Date()));
    for (Document refused :
        List.of(
            new Document("_id", "x"),
            new Document("_id", EMOJI.repeat(256)).append("createdAt", new Date()),
            new Document("_id", 1).append("createdAt", new Date()),
            new Document("_id", "x").append("createdAt", "now"))) {
      assertThatThrownBy(() -> dedup.insertOne(refused))
          .as("%s", refused)
          .hasMessageContaining("failed validation");
    }
    for (Object bucket : List.of(64, -1, "1", 1.5)) {
      assertThatThrownBy(
              () -> database.collection("outbox_bucket").insertOne(new Document("_id", bucket)))
          .as("bucket %s", bucket)
          .hasMessageContaining("failed validation");
    }
  }
}
