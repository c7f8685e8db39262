package dev.outbox.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import java.time.Duration;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxAssertTest {
  private final RecordingOutbox<Object> outbox = new RecordingOutbox<>();

  private void append(String event, String id, Consumer<OutboxMessage.Builder> more) {
    OutboxMessage.Builder message =
        OutboxMessage.builder().aggregate("order", id).eventType(event).payload("{\"total\": 1}");
    more.accept(message);
    outbox.append(null, message.build());
  }

  private void append(String event, String id) {
    append(event, id, message -> {});
  }

  private static void assertFails(ThrowingCallable code, String... lines) {
    assertThatThrownBy(code)
        .isInstanceOf(AssertionError.class)
        .hasMessage(String.join("\n", lines));
  }

  @Test
  void findsAMessageByAllThatItHas() {
    append("OrderPlaced", "1");
    append(
        "OrderPlaced",
        "2",
        message ->
            message
                .partitionKey("customer/7")
                .payload("{\"total\": 12.50, \"lines\": []}")
                .header("source", "shop")
                .header("source", "web")
                .dedupKey("d")
                .correlationId("c")
                .deliverAfter(Duration.ofHours(1)));
    assertThat(outbox)
        .hasAppended("OrderPlaced")
        .times(2)
        .ofAggregate("order", "2")
        .withKey("customer/7")
        .withJson("{\"lines\":[],\"total\":1.25e1}")
        .withPayload("{\"total\": 12.50, \"lines\": []}")
        .withHeader("source", "web")
        .withDedupKey("d")
        .fitting("with two headers", message -> message.headers().size() == 2)
        .once();
    assertThat(outbox).hasAppended("OrderPlaced").ofAggregate("order", "1").once();
  }

  @Test
  void eachConditionCanFail() {
    append(
        "OrderPlaced", "1", message -> message.header("a", "b").dedupKey("d").correlationId("c"));
    assertThatCode(() -> placed().withHeader("a", "b")).doesNotThrowAnyException();
    assertThatThrownBy(() -> placed().ofAggregate("order", "2")).hasMessageContaining("order 2");
    assertThatThrownBy(() -> placed().ofAggregate("bill", "1")).hasMessageContaining("bill 1");
    assertThatThrownBy(() -> placed().withKey("1")).hasMessageContaining("with key 1");
    assertThatThrownBy(() -> placed().withJson("{}")).hasMessageContaining("with JSON {}");
    assertThatThrownBy(() -> placed().withPayload("{}")).hasMessageContaining("with payload {}");
    assertThatThrownBy(() -> placed().withPayload(new byte[1])).hasMessageContaining("of 1 bytes");
    assertThatThrownBy(() -> placed().withHeader("a", "c")).hasMessageContaining("header a=c");
    assertThatThrownBy(() -> placed().withDedupKey(null)).hasMessageContaining("key null");
    assertThatThrownBy(() -> placed().fitting("of blue", m -> false)).hasMessageContaining("blue");
    assertThatThrownBy(() -> placed().times(2)).hasMessageContaining("1 and not 2 messages");
  }

  private MessageAssert placed() {
    return assertThat(outbox).hasAppended("OrderPlaced");
  }

  @Test
  void aFailureShowsWhatWasThere() {
    append("OrderPlaced", "1");
    append("OrderPlaced", "2", message -> message.header("a", "b").dedupKey("d"));
    append("OrderPaid", "1", message -> message.payload(new byte[] {(byte) 0xff}));
    assertFails(
        () -> placed().ofAggregate("order", "2").withJson("{\"total\": 2}"),
        "No message was appended that is all of this:",
        "  of type OrderPlaced",
        "  of aggregate order 2",
        "  with JSON {\"total\": 2}",
        "What was appended (* is of type OrderPlaced, of aggregate order 2):",
        "  OrderPlaced of order 1, key order/1, application/json {\"total\": 1}",
        "* OrderPlaced of order 2, key order/2, header a=b, dedup key d, application/json {\"total\": 1}",
        "  OrderPaid of order 1, key order/1, application/json with 1 bytes that are no text");
    assertFails(
        () -> assertThat(outbox).as("after %s", "lunch").hasAppended("OrderShipped"),
        "[after lunch] No message was appended that is all of this:",
        "  of type OrderShipped",
        "What was appended:",
        "  OrderPlaced of order 1, key order/1, application/json {\"total\": 1}",
        "  OrderPlaced of order 2, key order/2, header a=b, dedup key d, application/json {\"total\": 1}",
        "  OrderPaid of order 1, key order/1, application/json with 1 bytes that are no text");
  }

  @Test
  void nothingWasAppended() {
    assertThat(outbox).hasAppendedNothing().hasNotAppended("OrderPlaced");
    assertFails(
        this::placed,
        "No message was appended that is all of this:",
        "  of type OrderPlaced",
        "Nothing was appended.");
  }

  @Test
  void allInOrder() {
    append("OrderPlaced", "1");
    append("OrderPaid", "1");
    assertThat(outbox)
        .hasAppendedExactly("OrderPlaced", "OrderPaid")
        .hasNotAppended("OrderShipped");
    assertThatThrownBy(() -> assertThat(outbox).hasAppendedExactly("OrderPaid", "OrderPlaced"))
        .hasMessageStartingWith(
            "Of these types, in this order, should be all messages that were appended: [OrderPaid, OrderPlaced].")
        .hasMessageContaining("OrderPaid of order 1");
    assertThatThrownBy(() -> assertThat(outbox).hasAppendedExactly("OrderPlaced"))
        .isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> assertThat(outbox).hasAppendedNothing())
        .isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> assertThat(outbox).hasNotAppended("OrderPaid"))
        .hasMessageContaining("1 messages of type OrderPaid were appended");
  }

  @Test
  void aPercentSignIsNoFormat() {
    append("100%s", "1");
    assertThatThrownBy(() -> assertThat(outbox).hasAppended("50%d"))
        .hasMessageContaining("of type 50%d")
        .hasMessageContaining("100%s of order 1");
  }

  @Test
  void aLongPayloadIsCut() {
    append("a", "1", message -> message.payload("x".repeat(1_001)));
    assertThatThrownBy(() -> assertThat(outbox).hasAppended("b"))
        .hasMessageEndingWith("x… (1001 characters)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\": 1, \"b\": [null, true]} | { \"b\":[null,true], \"a\":1.0 }",
        "[1e1]                         | [10]",
        "\"1\"                         | \"\\u0031\"",
        "12345678901234567890123.0     | 12345678901234567890123",
      })
  void isTheSameJson(String one, String other) {
    append("a", "1", message -> message.payload(one));
    assertThat(outbox).hasAppended("a").withJson(other);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\": 1}       | {\"a\": \"1\"}",
        "{\"a\": 1}       | {\"a\": 1, \"b\": 2}",
        "[1, 2]           | [2, 1]",
        "9007199254740993 | 9007199254740992",
        "null             | false",
        "[1] 2            | [1]",
        "{a: 1}           | {\"a\": 1}",
      })
  void isOtherJson(String one, String other) {
    append("a", "1", message -> message.payload(one));
    assertThatThrownBy(() -> assertThat(outbox).hasAppended("a").withJson(other))
        .isInstanceOf(AssertionError.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "{'a': 1}", "{} {}", "{\"a\": 1, \"a\": 2}"})
  void whatIsExpectedHasToBeJson(String json) {
    append("a", "1");
    assertThatThrownBy(() -> assertThat(outbox).hasAppended("a").withJson(json))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no JSON")
        .hasMessageEndingWith("It is: " + json);
  }
}
