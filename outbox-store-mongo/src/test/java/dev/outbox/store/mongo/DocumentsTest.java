package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InspectionStore.Status;
import java.time.Instant;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DocumentsTest {

  @ParameterizedTest
  @CsvSource({
    "2030-01-01T00:00:00.123Z,    2030-01-01T00:00:00.122Z, false",
    "2030-01-01T00:00:00.123Z,    2030-01-01T00:00:00.123Z, true",
    "2030-01-01T00:00:00.123001Z, 2030-01-01T00:00:00.123Z, false",
    "2030-01-01T00:00:00.123001Z, 2030-01-01T00:00:00.124Z, true",
    "2030-01-01T00:00:00.123999Z, 2030-01-01T00:00:00.123Z, false",
    "9998-12-31T23:59:59.999999Z, 2030-01-01T00:00:00.000Z, false"
  })
  @DisplayName("a message expires by the server's milliseconds, never early; its time is exact")
  void expires(Instant at, Instant now, boolean expired) {
    OutboxMessage message =
        OutboxMessage.builder()
            .aggregate("order", "order-1")
            .eventType("OrderPlaced")
            .payload("{}")
            .expiresAt(at)
            .build();
    Document document =
        Documents.of(message, Status.PENDING, Instant.parse("2029-01-01T00:00:00Z"))
            .append("seq", new BsonTimestamp(1_893_456_000, 1)) // as the server fills it in
            .append("id", message.id());
    assertThat(Documents.message(document).claimedAt(now))
        .satisfies(claimed -> assertThat(claimed.expired()).isEqualTo(expired))
        .satisfies(claimed -> assertThat(claimed.message()).isEqualTo(message));
  }
}
