package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DestinationTest {

  private static OutboxMessage.Builder order() {
    return OutboxMessage.builder()
        .aggregate("order", "o-1")
        .eventType("OrderPlaced")
        .header("tenant", "blue")
        .header("tenant", "red")
        .header("empty", "")
        .payload("{}");
  }

  private static StoredMessage stored(OutboxMessage.Builder message) {
    return StoredMessage.of(7, 0, Instant.EPOCH, message.build());
  }

  private static Result missing(Destination destination, StoredMessage message) {
    try {
      String name = destination.of(message);
      throw new AssertionError("there is a destination: " + name);
    } catch (Destination.MissingException e) {
      return e.result();
    }
  }

  @Test
  @DisplayName("by default it is the aggregate type")
  void byDefault() {
    assertThat(Destination.aggregateType().of(stored(order()))).isEqualTo("order");
    assertThat(Destination.fromProperties(Map.of()).of(stored(order()))).isEqualTo("order");
  }

  @ParameterizedTest
  @DisplayName("placeholders are filled in from the message")
  @CsvSource({
    "orders, orders",
    "{eventType}, OrderPlaced",
    "shop.{aggregateType}, shop.order",
    "{aggregateType}/{aggregateId}/{recordKey}, order/o-1/p",
    "{aggregateType}{eventType}!, orderOrderPlaced!",
    "a.{header.tenant}.b, a.red.b"
  })
  void patterns(String pattern, String name) {
    assertThat(Destination.pattern(pattern).of(stored(order().partitionKey("p")))).isEqualTo(name);
  }

  @Test
  @DisplayName("what is filled in is text, also where it looks like a placeholder")
  void notTwice() {
    StoredMessage message = stored(order().aggregate("{eventType}", "$1"));
    assertThat(Destination.pattern("{aggregateType}.{aggregateId}").of(message))
        .isEqualTo("{eventType}.$1");
  }

  @Test
  @DisplayName("properties name the pattern, and others for single aggregate types")
  void properties() {
    Map<String, String> properties =
        Map.of(
            "destination", "shop.{aggregateType}",
            "destination.order", "orders",
            "destination.a.b c", "{eventType}",
            "destinations", "not ours",
            "routingKey.order", "{aggregateId}");
    Destination destination = Destination.fromProperties(properties);
    assertThat(destination.of(stored(order()))).isEqualTo("orders");
    assertThat(destination.of(stored(order().aggregateType("a.b c")))).isEqualTo("OrderPlaced");
    assertThat(destination.of(stored(order().aggregateType("bill")))).isEqualTo("shop.bill");

    Destination key = Destination.fromProperties(properties, "routingKey", "{eventType}");
    assertThat(key.of(stored(order()))).isEqualTo("o-1");
    assertThat(key.of(stored(order().aggregateType("bill")))).isEqualTo("OrderPlaced");
    assertThat(Destination.properties("routingKey"))
        .containsExactlyInAnyOrder("routingKey", "routingKey.");
  }

  @Test
  @DisplayName("values are escaped, the text around them and names from functions are not")
  void escaping() {
    Destination destination =
        Destination.pattern("a.b.{aggregateId}")
            .escaping(value -> value.replace('.', '_'))
            .forType("bill", "{eventType}.{aggregateId}");
    assertThat(destination.of(stored(order().aggregateId("1.2")))).isEqualTo("a.b.1_2");
    assertThat(destination.of(stored(order().aggregate("bill", ".")))).isEqualTo("OrderPlaced._");
    assertThat(Destination.by(m -> "a.b").escaping(value -> "").of(stored(order())))
        .isEqualTo("a.b");
  }

  @ParameterizedTest
  @DisplayName("a message without the header, or with an empty one, is rejected")
  @ValueSource(strings = {"header.user", "header.empty", "header.Tenant"})
  void missingHeader(String placeholder) {
    String pattern = "shop.{" + placeholder + "}";
    StoredMessage message = stored(order());
    assertThat(missing(Destination.pattern(pattern), message))
        .isEqualTo(
            Result.rejected(
                "%s has no destination: %s needs the header %s, which is missing or blank"
                    .formatted(message, pattern, placeholder.substring("header.".length()))));
  }

  @Test
  @DisplayName("where a function gives nothing the message is rejected, where it throws it failed")
  void functions() {
    StoredMessage message = stored(order());
    assertThat(Destination.by(m -> m.message().eventType()).of(message)).isEqualTo("OrderPlaced");
    assertThat(missing(Destination.by(m -> null), message))
        .isEqualTo(Result.rejected(message + " has no destination: its function gave null"));
    assertThat(missing(Destination.by(m -> " "), message))
        .isEqualTo(
            Result.rejected(message + " has no destination: its function gave a blank name"));
    Function<StoredMessage, String> broken =
        m -> {
          throw new IllegalStateException("not loaded yet");
        };
    assertThat(missing(Destination.by(broken), message))
        .isEqualTo(
            Result.failed(
                message
                    + " has no destination: its function threw java.lang.IllegalStateException: not loaded yet"));
    Function<StoredMessage, String> refusing =
        m -> {
          throw new PermanentOutboxException("no such tenant");
        };
    assertThat(missing(Destination.by(refusing), message))
        .isEqualTo(Result.rejected(message + " has no destination: no such tenant"));
  }

  @ParameterizedTest
  @DisplayName("a pattern that cannot be meant is refused, with what is known")
  @CsvSource({
    "'', the property destination is blank: give a name; or leave it out",
    "{type}, the property destination is {type}; and there is no placeholder {type}: take {aggregateType}; {aggregateId}; {eventType}; {recordKey} or {header.NAME}",
    "a{}, the property destination is a{}; and there is no placeholder {}: take",
    "{header.}, the property destination is {header.}; and there is no placeholder {header.}: take",
    "a.{aggregateType, the property destination is a.{aggregateType; where a brace has no partner: write placeholders as {aggregateType}",
    "}a{, the property destination is }a{; where a brace has no partner",
    "{{eventType}}, the property destination is {{eventType}}; where a brace has no partner"
  })
  void refused(String pattern, String sentence) {
    assertThatThrownBy(() -> Destination.fromProperties(Map.of("destination", pattern)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(sentence.replace(';', ','));
  }

  @Test
  @DisplayName("a pattern of one aggregate type is refused with its name")
  void refusedOfType() {
    assertThatThrownBy(() -> Destination.fromProperties(Map.of("destination.order", "{x}")))
        .hasMessageStartingWith("the property destination.order is {x}, and there is no");
    assertThatThrownBy(() -> Destination.fromProperties(Map.of("destination.", "x")))
        .hasMessage("the destination x has no aggregate type: name one, or leave it out");
    assertThatThrownBy(() -> Destination.aggregateType().forType("order", "{x}"))
        .hasMessageStartingWith("the pattern of order is {x}, and there is no");
  }

  @Test
  @DisplayName("it says what it is")
  void text() {
    assertThat(Destination.pattern("shop.{aggregateType}").forType("order", "orders"))
        .hasToString("{order=orders}, otherwise shop.{aggregateType}");
    assertThat(Destination.by(m -> "x")).hasToString("a function");
  }
}
