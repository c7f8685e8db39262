package dev.outbox.store.mongo;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import java.time.Duration;
import java.util.Date;
import java.util.UUID;
import java.util.stream.IntStream;
import org.bson.BsonBinary;
import org.bson.Document;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A large claim")
class LargeClaimsTest extends StoreTests {

  @Test
  @DisplayName("brings a blocked key, however long it is: its messages are found in one document")
  void longKey() {
    String key = "\uD83D\uDCE6".repeat(511);
    int bucket = Documents.bucket(key);
    int number = 9_000; // times the 2,044 bytes of the key that is more than a document may have
    database
        .collection("outbox_message")
        .insertMany(
            IntStream.range(0, number)
                .mapToObj(
                    i ->
                        TestDatabase.least("order")
                            .append("bucket", bucket)
                            .append("status", "BLOCKED")
                            .append("key", key)
                            .append("id", new BsonBinary(UUID.randomUUID())))
                .toList());
    database
        .collection("outbox_blocked_key")
        .insertOne(
            new Document("_id", key).append("bucket", bucket).append("retryAt", new Date(0)));
    Claim claim =
        store.claim(new Claim.Request("test", number, 100_000_000, Duration.ofMinutes(1)));
    assertThat(claim.messages()).hasSize(number);
    assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
  }

  @Test
  @DisplayName("brings all that there is of its buckets")
  void unlimited() {
    for (int i = 0; i < 20; i++) {
      database.append(store, TestDatabase.message("key" + i).build());
    }
    Claim claim =
        store.claim(
            new Claim.Request("test", Integer.MAX_VALUE, Long.MAX_VALUE, Duration.ofMinutes(1)));
    assertThat(claim.messages()).hasSizeGreaterThanOrEqualTo(8);
    assertThat(claim.settle(all(claim, Decision.delivered()))).isEmpty();
  }
}
