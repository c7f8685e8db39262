package dev.outbox.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.PermanentOutboxException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A message of an event")
class OutboxEventsTest {
  private final PayloadSerializer text =
      (about, event) ->
          new SerializedPayload(
              event.toString().getBytes(), "text/plain", List.of(new Header("by", "text")));
  private final OutboxEvents events = OutboxEvents.of(text);

  @OutboxEvent(
      aggregate = "order",
      key = "orderId",
      type = "order.placed.v1",
      schema = "https://shop.example/order-placed.json")
  private record OrderPlaced(String orderId, int total) {}

  @OutboxEvent(aggregate = "order", key = "orderId")
  private sealed interface OrderEvent {}

  private record OrderPaid(UUID orderId) implements OrderEvent {}

  private record OrderLost(String orderId) implements OrderEvent {
    @Override
    public String orderId() {
      throw new IllegalStateException("lost");
    }
  }

  private record OrderOf(Object orderId) implements OrderEvent {}

  private record Nameless() implements OrderEvent {}

  @OutboxEvent(aggregate = "customer", key = "number")
  private static class CustomerEvent {
    public long getNumber() {
      return 42;
    }
  }

  private static final class CustomerMoved extends CustomerEvent {}

  @OutboxEvent(aggregate = "invoice", key = "id")
  private static final class InvoiceSent {
    public final Kind id = Kind.FINAL;
  }

  private enum Kind {
    FINAL
  }

  @OutboxEvent(aggregate = "parcel", key = "id")
  private interface ParcelEvent {}

  private record Both(String id, String orderId) implements OrderEvent, ParcelEvent {}

  @OutboxEvent(aggregate = "both", key = "id")
  private record Own(String id, String orderId) implements OrderEvent, ParcelEvent {}

  @OutboxEvent(aggregate = "order", key = "")
  private record NoKey() {}

  private record Foreign(String number) {}

  @Test
  @DisplayName("is about what the annotation says, with the serializer's payload and headers")
  void annotated() {
    OutboxMessage message = events.message(new OrderPlaced("4711", 12));
    assertThat(message.aggregateType()).isEqualTo("order");
    assertThat(message.aggregateId()).isEqualTo("4711");
    assertThat(message.key()).isEqualTo("order/4711");
    assertThat(message.eventType()).isEqualTo("order.placed.v1");
    assertThat(message.payloadAsString()).isEqualTo("OrderPlaced[orderId=4711, total=12]");
    assertThat(message.contentType()).isEqualTo("text/plain");
    assertThat(message.headers())
        .containsExactly(
            new Header("dataschema", "https://shop.example/order-placed.json"),
            new Header("by", "text"));
  }

  @Test
  @DisplayName("is about what the annotation of an interface or a superclass says")
  void inherited() {
    UUID id = UUID.randomUUID();
    OutboxMessage paid = events.message(new OrderPaid(id));
    assertThat(paid.key()).isEqualTo("order/" + id);
    assertThat(paid.eventType()).isEqualTo("OrderPaid");
    assertThat(paid.headers()).containsExactly(new Header("by", "text"));
    OutboxMessage moved = events.message(new CustomerMoved());
    assertThat(moved.key()).isEqualTo("customer/42");
    assertThat(moved.eventType()).isEqualTo("CustomerMoved");
    assertThat(events.message(new InvoiceSent()).key()).isEqualTo("invoice/FINAL");
    assertThat(events.message(new Own("1", "2")).key()).isEqualTo("both/1");
  }

  @Test
  @DisplayName("is about what a function says, that of its own class before others")
  void functions() {
    OutboxEvents described =
        OutboxEvents.builder(text)
            .event(Record.class, (message, any) -> message.aggregate("record", "any"))
            .event(
                Foreign.class,
                (message, foreign) ->
                    message
                        .aggregate("foreign", foreign.number())
                        .eventType("Came")
                        .partitionKey("all")
                        .correlationId("c"))
            .build();
    OutboxMessage foreign = described.message(new Foreign("7"));
    assertThat(foreign.aggregateType()).isEqualTo("foreign");
    assertThat(foreign.eventType()).isEqualTo("Came");
    assertThat(foreign.key()).isEqualTo("all");
    assertThat(foreign.correlationId()).isEqualTo("c");
    assertThat(described.message(new OrderPlaced("1", 1)))
        .as("a function wins over the annotation")
        .extracting(OutboxMessage::aggregateType, OutboxMessage::eventType)
        .containsExactly("record", "OrderPlaced");
    assertThat(described.message(new CustomerMoved()).key()).isEqualTo("customer/42");
    assertThatThrownBy(
            () ->
                OutboxEvents.builder(text)
                    .event(Foreign.class, (message, one) -> {})
                    .event(Foreign.class, (message, other) -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Foreign is described twice");
  }

  @Test
  @DisplayName("is made in a list in its order, and may get more before it is built")
  void listsAndMore() {
    assertThat(events.messages(List.of(new OrderPlaced("1", 1), new OrderPlaced("2", 1))))
        .extracting(OutboxMessage::aggregateId)
        .containsExactly("1", "2");
    assertThat(events.prepare(new OrderPlaced("1", 1)).dedupKey("d").build())
        .extracting(OutboxMessage::dedupKey, OutboxMessage::payloadSize)
        .containsExactly("d", "OrderPlaced[orderId=1, total=1]".length());
  }

  @Test
  @DisplayName("is known to the serializer without its payload, also its id")
  void about() {
    AtomicReference<OutboxMessage> seen = new AtomicReference<>();
    OutboxEvents looking =
        OutboxEvents.builder(
                (about, event) -> {
                  seen.set(about);
                  return SerializedPayload.of(new byte[1], "x/y");
                })
            .event(Foreign.class, (m, f) -> m.aggregate("foreign", f.number()).unordered())
            .build();
    OutboxMessage message = looking.message(new Foreign("1"));
    assertThat(seen.get().id()).isEqualTo(message.id());
    assertThat(seen.get().eventType()).isEqualTo("Foreign");
    assertThat(seen.get().payloadSize()).isZero();
    assertThat(message.key()).as("unordered").isEqualTo(message.id().toString());
  }

  static List<Object[]> wrong() {
    return List.of(
        new Object[] {new Foreign("1"), "Foreign has no @OutboxEvent, and OutboxEvents has no"},
        new Object[] {new Both("1", "2"), "Both has several interfaces with @OutboxEvent"},
        new Object[] {new Nameless(), "Nameless has no property orderId"},
        new Object[] {new NoKey(), "NoKey has no property \"\""},
        new Object[] {new OrderLost("1"), "cannot be read: java.lang.IllegalStateException: lost"},
        new Object[] {new OrderOf(List.of(1)), "use a function"},
        new Object[] {new OrderOf(new Object()), "is a java.lang.Object: make it a text"});
  }

  @ParameterizedTest
  @MethodSource("wrong")
  @DisplayName("is refused with a sentence where nothing says its key")
  void refused(Object event, String sentence) {
    assertThatThrownBy(() -> events.message(event))
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining(sentence)
        .hasMessageContaining(event.getClass().getName());
  }

  @Test
  @DisplayName("is refused when it has no key, or breaks a limit, before it is serialised")
  void invalid() {
    OutboxEvents untouched =
        OutboxEvents.builder(
                (about, event) -> {
                  throw new AssertionError("serialised");
                })
            .event(Foreign.class, (message, foreign) -> message.aggregate("f", foreign.number()))
            .event(Nameless.class, (message, nameless) -> {})
            .build();
    assertThatThrownBy(() -> untouched.message(new OrderPlaced(null, 1)))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("the key orderId of")
        .hasMessageContaining("is null");
    assertThatThrownBy(() -> untouched.message(new Foreign("x".repeat(256))))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("aggregateId has 256 characters");
    assertThatThrownBy(() -> untouched.message(new Nameless()))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("aggregateType is missing");
  }
}
