package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a {@code varchar(255)} does to a text: it refuses one that is too long, unless what is too
 * much are blanks, which it cuts off.
 */
@DisplayName("A text of 255 characters")
class TextLimitsTest extends DatabaseTest {
  private static final String PARCEL = "\uD83D\uDCE6";
  private static final List<String> AT_THE_LIMIT =
      List.of(
          "x".repeat(255),
          "x".repeat(254) + " ",
          "x".repeat(254),
          "x" + " ".repeat(254),
          " ".repeat(254) + "x",
          PARCEL.repeat(254) + " ",
          PARCEL.repeat(255));

  private static OutboxMessage.Builder message(String text) {
    return OutboxMessage.builder()
        .aggregate(text, text)
        .eventType(text)
        .partitionKey(text)
        .contentType(text)
        .dedupKey(text)
        .correlationId(text)
        .payload("");
  }

  @Test
  @DisplayName("comes back exactly, with the blanks at its end, and is a key of its own (A3)")
  void atTheLimit() {
    List<OutboxMessage> messages =
        AT_THE_LIMIT.stream().map(text -> message(text).build()).toList();
    database.inTransaction(false, c -> store.append(c, messages));
    List<OutboxMessage> delivered = delivered();
    assertThat(delivered).containsExactlyInAnyOrderElementsOf(messages);
    assertThat(delivered).extracting(OutboxMessage::key).doesNotHaveDuplicates();
  }

  @Test
  @DisplayName(
      "and blanks more by plain SQL is the text without them: no row is over the limit (A5)")
  void blanksMoreByPlainSql() {
    String text = "x".repeat(254) + " ";
    database.execute(
        "insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key,"
            + " content_type, dedup_key, correlation_id, payload) select t, t, t, t, t, t, t, ''"
            + " from (select '"
            + text
            + "   '::text as t) t");
    assertThat(delivered())
        .singleElement()
        .satisfies(m -> assertThat(m).isEqualTo(message(text).id(m.id()).build()));
  }
}
