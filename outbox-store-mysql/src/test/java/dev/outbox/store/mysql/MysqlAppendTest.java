package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.jdbc.DatabaseTests;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("Append")
class MysqlAppendTest extends DatabaseTests {
  private static final long SMALL_PACKET = 4 << 20;

  MysqlAppendTest(Tested tested) {
    super(tested);
  }

  /** As on a server where it is so small: the driver refuses to send more. */
  @Override
  protected void configure(HikariConfig config) {
    config.addDataSourceProperty("maxAllowedPacket", Long.toString(SMALL_PACKET));
  }

  private List<StoredMessage> claimed() {
    return store
        .claim(new Claim.Request("test", 5_000, 1L << 30, Duration.ofMinutes(5)))
        .messages();
  }

  @Test
  @DisplayName("keeps the order of 1,200 messages in one call, whatever sizes they have")
  void order() {
    List<OutboxMessage> messages =
        IntStream.range(0, 1_200)
            .mapToObj(i -> of("one").payload(new byte[i % 100 == 0 ? 700_000 : i]).build())
            .toList();
    append(messages);
    assertThat(claimed()).extracting(m -> m.message().id()).isEqualTo(ids(messages));
  }

  private static List<UUID> ids(List<OutboxMessage> messages) {
    return messages.stream().map(OutboxMessage::id).toList();
  }

  @Test
  @DisplayName("needs no max_allowed_packet above 4 MB for many of the largest messages")
  void largePayloads() {
    byte[] escaped = new byte[1_000_000]; // each byte takes two in the text of a statement
    List<OutboxMessage> messages =
        IntStream.range(0, 9)
            .mapToObj(i -> of("1").payload(i % 2 == 0 ? escaped : new byte[999_999]).build())
            .toList();
    append(messages);
    assertThat(claimed()).extracting(m -> m.message().id()).isEqualTo(ids(messages));
  }

  @Test
  @DisplayName("needs none for many messages with the longest headers, texts and keys")
  void largeTexts() {
    String longest = "\u0001".repeat(255);
    String emoji = "\ud83d\udce6".repeat(255);
    List<OutboxMessage> messages =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    of(emoji)
                        .partitionKey("'".repeat(255))
                        .contentType("'".repeat(255))
                        .correlationId("\\".repeat(255))
                        .dedupKey(emoji.substring(8) + "%04d".formatted(i))
                        .header("h", "\u0001".repeat(15_000))
                        .eventType(longest)
                        .build())
            .toList();
    append(messages);
    List<StoredMessage> claimed = claimed();
    assertThat(claimed).extracting(m -> m.message().id()).isEqualTo(ids(messages));
    assertThat(claimed.get(199).message()).isEqualTo(messages.get(199));
  }

  @Test
  @DisplayName("finds all duplicates among 1,200 messages with dedup keys")
  void duplicates() {
    List<OutboxMessage> messages =
        IntStream.range(0, 1_200).mapToObj(i -> of("1").dedupKey("d" + i % 700).build()).toList();
    database.inTransaction(
        false,
        c -> {
          assertThat(store.append(c, messages).duplicates())
              .containsExactlyInAnyOrderElementsOf(ids(messages.subList(700, 1_200)));
          assertThat(store.append(c, List.of(messages.get(3))).duplicates()).hasSize(1);
        });
    assertThat(claimed())
        .extracting(m -> m.message().id())
        .isEqualTo(ids(messages.subList(0, 700)));
    assertThat(database.query("select count(*) from outbox_dedup")).isEqualTo("700");
  }
}
