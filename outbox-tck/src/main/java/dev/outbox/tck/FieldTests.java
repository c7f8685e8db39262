package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/** A3. */
abstract class FieldTests<T> extends StoreTests<T> {

  /** Texts that are easily changed on the way. */
  static final List<String> NASTY =
      List.of(
          "plain",
          " space before",
          "space after ",
          "two  spaces",
          "tab\tand\nnew line\r\n",
          "quotes ' \" ` and \\ backslash",
          "%like_ [class] $1 ${x} :name ? {0} #{y}",
          "'; DROP TABLE outbox_message; --",
          "null",
          "é composed, e\u0301 decomposed",
          "\uFEFFbyte order mark",
          "\u202Eright to left\u202C",
          "zero\u200Bwidth",
          "control \u0001\u001F\u007F\u0085",
          "\uD83D\uDE00".repeat(OutboxMessage.MAX_TEXT));

  FieldTests(OutboxStoreTck<T> tck) {
    super(tck);
  }

  @Test
  @Rule("A3")
  @Sentence("every text comes back exactly, whatever it holds")
  void texts() {
    for (String text : NASTY) {
      OutboxMessage.Builder builder =
          message(text)
              .aggregateType(text)
              .eventType(text)
              .partitionKey(text)
              .contentType(text)
              .dedupKey(text)
              .correlationId(text)
              .payload(text)
              .header(text, text);
      assertComesBack(builder.build());
      assertComesBack(message(text).build());
    }
  }

  @Test
  @Rule("A3")
  @Sentence("the most attempts of a message come back, also those of one among many")
  void mostAttempts() {
    assertComesBack(message("k").maxAttempts(1).build());
    assertComesBack(message("k").maxAttempts(Integer.MAX_VALUE).build());
    commit(List.of(message("a").build(), message("b").maxAttempts(3).build()));
    assertThat(drain())
        .as("the most attempts of two messages of one append, of which the second has three")
        .extracting(stored -> stored.message().maxAttempts())
        .containsExactlyInAnyOrder(null, 3);
  }

  @Test
  @Rule("A3")
  @Sentence("what was not given comes back as not given")
  void nothingGiven() {
    assertComesBack(message("k").build());
    assertComesBack(message("k").unordered().build());
  }

  @Test
  @Rule("A3")
  @Sentence("headers come back in their order, repeated names, empty and nasty values too")
  void headers() {
    OutboxMessage.Builder builder = message("k");
    builder.header("z", "1").header("a", "2").header("z", "3").header("Z", "4").header("a", "2");
    builder.header("empty", "").header("blank", " ").header("json", "[[\"a\",{\"b\":null}]]");
    NASTY.forEach(text -> builder.header("nasty", text));
    assertComesBack(builder.build());
  }

  @Test
  @Rule("A3")
  @Sentence("the payload comes back byte by byte: empty, every byte, the largest")
  void payloads() {
    byte[] everyByte = new byte[256];
    for (int i = 0; i < everyByte.length; i++) {
      everyByte[i] = (byte) i;
    }
    byte[] largest = new byte[OutboxMessage.MAX_PAYLOAD];
    new Random(1).nextBytes(largest);
    for (byte[] payload :
        List.of(
            new byte[0],
            everyByte,
            new byte[] {0, 0, 0},
            "text with \uD83D\uDE00 and \0".getBytes(StandardCharsets.UTF_8),
            new byte[] {(byte) 0xC3, (byte) 0x28},
            "{ \"b\" : 1.0, \"a\" : 1e2, \"a\" : null }".getBytes(StandardCharsets.UTF_8),
            largest)) {
      assertComesBack(message("k").payload(payload).build());
    }
  }

  @Test
  @Rule("A3")
  @Sentence("times come back to the microsecond")
  void microseconds() {
    for (String time :
        List.of(
            "2024-02-29T23:59:59.999999Z",
            "2020-03-29T01:30:00.000001Z",
            "1970-01-01T00:00:00Z",
            "2001-09-09T01:46:40.123456Z")) {
      assertComesBack(message("k").availableAt(Instant.parse(time)).build());
    }
  }

  @Test
  @Rule("A3")
  @Sentence("a delay comes back as the time until which the message was held back")
  void delay() {
    OutboxMessage sent = committed(message("k").deliverAfter(Duration.ofMillis(1)));
    StoredMessage stored = awaitDrained(1).get(0);
    OutboxMessage came = stored.message();
    assertThat(came.deliverAfter()).as("deliverAfter of a message handed out").isNull();
    assertThat(came.availableAt())
        .as("availableAt of a message that was appended with deliverAfter")
        .isNotNull()
        .isAfter(stored.createdAt().minusSeconds(1))
        .isBefore(stored.createdAt().plusSeconds(60));
    assertThat(came.id()).as("id").isEqualTo(sent.id());
    assertThat(came.payload()).as("payload").isEqualTo(sent.payload());
  }

  @Test
  @Rule("A3")
  @Sentence("keys that differ in case, spaces or normal form are different keys")
  void differentKeys() {
    List<List<String>> pairs =
        List.of(
            List.of("case", "CASE"),
            List.of("trailing", "trailing "),
            List.of("leading", " leading"),
            List.of("caf\u00E9", "cafe\u0301"),
            List.of("stra\u00DFe", "strasse"),
            List.of("\u212B", "\u00C5"),
            List.of("zero", "zero\u200B"),
            List.of("tab", "tab\t"));
    List<String> confused = new ArrayList<>();
    for (List<String> pair : pairs) {
      tck.prepare();
      OutboxMessage waits = committed(message(pair.get(0)));
      OutboxMessage other = committed(message(pair.get(1)));
      retryOnly(pair.get(0), waits);
      if (!ids(drain()).equals(idsOf(other))) {
        confused.add("%s and %s".formatted(shown(pair.get(0)), shown(pair.get(1))));
      }
    }
    if (!confused.isEmpty()) {
      throw new AssertionFailedError(
          "while the first waits for its retry, a key that only looks like it waits too: the store"
              + " takes %s for one key".formatted(String.join(", ", confused)));
    }
  }

  @Test
  @Rule("A3")
  @Sentence("order 42 and invoice 42 are different keys")
  void typesHaveKeysOfTheirOwn() {
    OutboxMessage waits = committed(message("42"));
    OutboxMessage other = committed(message("42").aggregateType("invoice"));
    OutboxMessage behind = committed(message("another").partitionKey(key("42")));
    retryOnly("42", waits);
    assertCame(ids(drain()))
        .as(
            "claimed while order 42 waits for its retry: invoice 42, and not message %s, whose"
                + " partition key is %s",
            behind.id(), key("42"))
        .containsExactly(other.id());
  }

  /** The text in quotes, with what does not show, or looks like something else, escaped. */
  static String shown(String text) {
    String escaped =
        text.codePoints()
            .mapToObj(c -> c >= ' ' && c < 127 ? Character.toString(c) : "\\u%04X".formatted(c))
            .collect(Collectors.joining());
    return '"' + escaped + '"';
  }

  private void retryOnly(String order, OutboxMessage message) {
    var claim = claimOf(order);
    Map<Long, Decision> retry =
        claim.messages().stream()
            .filter(m -> id(m).equals(message.id()))
            .collect(
                Collectors.toMap(StoredMessage::sequence, m -> Decision.retry(LONG, "refused")));
    settle(claim, retry);
  }

  private void assertComesBack(OutboxMessage sent) {
    commit(List.of(sent));
    List<StoredMessage> claimed = drain();
    assertThat(claimed).as("claimed after the append of one message").hasSize(1);
    assertThat(claimed.get(0).key()).as("key of the message").isEqualTo(sent.key());
    assertThat(claimed.get(0).attempts()).as("attempts of the claimed message").isZero();
    id(claimed.get(0)); // it can be decoded
    assertSame(claimed.get(0).message(), sent);
  }

  static void assertSame(OutboxMessage came, OutboxMessage sent) {
    assertThat(came.id()).as("id").isEqualTo(sent.id());
    assertThat(came.aggregateType()).as("aggregateType").isEqualTo(sent.aggregateType());
    assertThat(came.aggregateId()).as("aggregateId").isEqualTo(sent.aggregateId());
    assertThat(came.eventType()).as("eventType").isEqualTo(sent.eventType());
    assertThat(came.partitionKey()).as("partitionKey").isEqualTo(sent.partitionKey());
    assertThat(came.contentType()).as("contentType").isEqualTo(sent.contentType());
    assertThat(came.headers().size()).as("number of headers").isEqualTo(sent.headers().size());
    for (int i = 0; i < sent.headers().size(); i++) {
      assertThat(came.headers().get(i).name())
          .as("name of header %d", i)
          .isEqualTo(sent.headers().get(i).name());
      assertThat(came.headers().get(i).value())
          .as("value of header %d", i)
          .isEqualTo(sent.headers().get(i).value());
    }
    assertThat(came.dedupKey()).as("dedupKey").isEqualTo(sent.dedupKey());
    assertThat(came.correlationId()).as("correlationId").isEqualTo(sent.correlationId());
    assertThat(came.availableAt()).as("availableAt").isEqualTo(sent.availableAt());
    assertThat(came.maxAttempts()).as("maxAttempts of the message").isEqualTo(sent.maxAttempts());
    assertThat(came.payloadSize()).as("payload's size").isEqualTo(sent.payloadSize());
    assertThat(Arrays.mismatch(came.payload(), sent.payload()))
        .as("index of the first byte of the payload that differs")
        .isEqualTo(-1);
  }
}
