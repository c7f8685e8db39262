package dev.outbox.tracing;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Header;
import dev.outbox.JoinedOutbox;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.store.memory.MemoryTransaction;
import dev.outbox.testing.RecordingOutbox;
import dev.outbox.testing.RecordingPublisher;
import dev.outbox.testing.RelayOnce;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@DisplayName("A trace through the outbox")
class OutboxTracingTest {
  @RegisterExtension
  static final OpenTelemetryExtension telemetry = OpenTelemetryExtension.create();

  private final Tracer tracer = telemetry.getOpenTelemetry().getTracer("test");
  private final OutboxTracing tracing = OutboxTracing.of(telemetry.getOpenTelemetry());
  private final MemoryOutboxStore store = new MemoryOutboxStore();
  private final RecordingPublisher broker = new RecordingPublisher();

  private static OutboxMessage.Builder message(String id) {
    return OutboxMessage.builder().aggregate("order", id).eventType("Placed").payload("{}");
  }

  private static String traceparent(SpanContext context) {
    return "00-%s-%s-%s"
        .formatted(context.getTraceId(), context.getSpanId(), context.getTraceFlags().asHex());
  }

  /** Appends in a span, whose context it returns. */
  private SpanContext append(OutboxMessage... messages) {
    Span span = tracer.spanBuilder("request").startSpan();
    Outbox<MemoryTransaction> outbox = tracing.outbox(store);
    try (Scope current = span.makeCurrent()) {
      store.inTransaction(tx -> outbox.append(tx, List.of(messages)));
    } finally {
      span.end();
    }
    return span.getSpanContext();
  }

  private List<SpanData> spans(String name) {
    return telemetry.getSpans().stream().filter(span -> span.getName().startsWith(name)).toList();
  }

  @Test
  @DisplayName("is stored with each message, after its own headers; nothing else changes")
  void stored() {
    OutboxMessage plain = message("1").header("tenant", "a").dedupKey("d").build();
    SpanContext request = append(plain, message("2").build());
    RelayOnce.run(store, broker);
    assertThat(broker.delivered())
        .extracting(m -> m.message().headers())
        .containsExactly(
            List.of(new Header("tenant", "a"), new Header("traceparent", traceparent(request))),
            List.of(new Header("traceparent", traceparent(request))));
    assertThat(broker.delivered().get(0).message())
        .isEqualTo(plain.toBuilder().header("traceparent", traceparent(request)).build());
  }

  @Test
  @DisplayName("brings its state along")
  void state() {
    SpanContext from =
        SpanContext.create(
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "00f067aa0ba902b7",
            TraceFlags.getSampled(),
            TraceState.builder().put("vendor", "value").build());
    RecordingOutbox<String> outbox = new RecordingOutbox<>();
    try (Scope current = Span.wrap(from).makeCurrent()) {
      tracing.outbox(outbox).append("tx", message("1").build());
    }
    assertThat(outbox.messages().get(0).headers())
        .containsExactlyInAnyOrder(
            new Header("traceparent", traceparent(from)), new Header("tracestate", "vendor=value"));
  }

  @Test
  @DisplayName("is not stored when the message has one or no room for one, and when there is none")
  void unlessSet() {
    RecordingOutbox<String> outbox = new RecordingOutbox<>();
    OutboxMessage own = message("1").header("traceparent", traceparent(append())).build();
    OutboxMessage full =
        message("3").header("h", "x".repeat(OutboxMessage.MAX_HEADERS - 1)).build();
    OutboxMessage plain = message("2").build();
    JoinedOutbox joined = tracing.outbox((JoinedOutbox) messages -> outbox.append("tx", messages));
    Span span = tracer.spanBuilder("request").startSpan();
    try (Scope current = span.makeCurrent()) {
      joined.append(List.of(own, full));
    } finally {
      span.end();
    }
    joined.append(plain);
    assertThat(outbox.messages()).containsExactly(own, full, plain);
  }

  @Test
  @DisplayName("is linked to the batch that publishes it")
  void batch() {
    SpanContext one = append(message("1").build(), message("2").build());
    SpanContext other = append(message("3").build());
    store.inTransaction(tx -> store.append(tx, message("4").build()));
    AtomicBoolean current = new AtomicBoolean();
    broker.answer(
        m -> {
          current.set(Span.current().getSpanContext().isValid());
          return Result.delivered();
        });
    RelayOnce.run(store, tracing.publisher(broker));
    SpanData batch = spans("outbox publish").get(0);
    assertThat(spans("outbox publish")).hasSize(1);
    assertThat(batch.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(batch.getParentSpanContext().isValid()).isFalse();
    assertThat(batch.getLinks())
        .extracting(link -> link.getSpanContext().getSpanId())
        .containsExactly(one.getSpanId(), other.getSpanId());
    assertThat(batch.getAttributes().get(longKey("messaging.batch.message_count"))).isEqualTo(4);
    assertThat(batch.getStatus()).isEqualTo(StatusData.unset());
    assertThat(current).as("the batch is current while the publisher works").isTrue();
  }

  @Test
  @DisplayName("has an error where a message was not delivered")
  void undelivered() {
    append(message("1").build(), message("2").build(), message("3").build());
    broker.answer(
        m ->
            m.message().aggregateId().equals("1")
                ? Result.delivered()
                : Result.rejected("too large, " + m.message().aggregateId()));
    RelayOnce.run(store, tracing.withMessageSpans().publisher(broker));
    assertThat(spans("outbox publish"))
        .filteredOn(span -> span.getKind() == SpanKind.CLIENT)
        .extracting(SpanData::getStatus)
        .containsExactly(
            StatusData.create(
                StatusCode.ERROR,
                "2 of 3 messages were not delivered; the first: rejected: too large, 2"));
    assertThat(spans("outbox publish order"))
        .extracting(SpanData::getStatus)
        .containsExactly(
            StatusData.unset(),
            StatusData.create(StatusCode.ERROR, "rejected: too large, 2"),
            StatusData.create(StatusCode.ERROR, "rejected: too large, 3"));
  }

  @Test
  @DisplayName("has the exception of a publisher that throws, which reaches the relay")
  void thrown() {
    MessagePublisher throwing =
        messages -> {
          throw new IllegalStateException("broken");
        };
    StoredMessage message = StoredMessage.of(1, 0, Instant.EPOCH, message("1").build());
    assertThatThrownBy(() -> tracing.publisher(throwing).publish(List.of(message)))
        .hasMessage("broken");
    SpanData batch = spans("outbox publish").get(0);
    assertThat(batch.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(batch.getEvents()).hasSize(1);
  }

  @Test
  @DisplayName("shows each message when it is told to, in the trace that appended it")
  void messageSpans() {
    SpanContext request = append(message("1").build(), message("2").build());
    RelayOnce.run(store, tracing.withMessageSpans().publisher(broker));
    SpanData batch =
        spans("outbox publish").stream()
            .filter(s -> s.getKind() == SpanKind.CLIENT)
            .findAny()
            .get();
    List<SpanData> each = spans("outbox publish order");
    assertThat(each)
        .hasSize(2)
        .allSatisfy(
            span -> {
              assertThat(span.getKind()).isEqualTo(SpanKind.PRODUCER);
              assertThat(span.getParentSpanContext().getSpanId()).isEqualTo(request.getSpanId());
              assertThat(span.getTraceId()).isEqualTo(request.getTraceId());
              assertThat(span.getLinks())
                  .extracting(LinkData::getSpanContext)
                  .containsExactly(batch.getSpanContext());
              assertThat(span.getAttributes().get(stringKey("outbox.event.type")))
                  .isEqualTo("Placed");
            });
    assertThat(each)
        .extracting(span -> span.getAttributes().get(stringKey("messaging.message.id")))
        .containsExactlyElementsOf(
            broker.delivered().stream().map(m -> m.message().id().toString()).toList());
  }

  @Test
  @DisplayName("is current while its message is sent; a message without one is sent without")
  void sending() {
    SpanContext request = append(message("1").build());
    store.inTransaction(tx -> store.append(tx, message("2").build()));
    RelayOnce.run(store, broker);
    List<String> current = new ArrayList<>();
    Span relay = tracer.spanBuilder("relay").startSpan();
    try (Scope scope = relay.makeCurrent()) {
      for (StoredMessage message : broker.delivered()) {
        tracing.send(message, () -> current.add(Span.current().getSpanContext().getSpanId()));
      }
      assertThat(Span.current()).isSameAs(relay);
    } finally {
      relay.end();
    }
    assertThat(current).containsExactly(request.getSpanId(), SpanContext.getInvalid().getSpanId());
  }

  private static final class Broker implements MessagePublisher {
    private boolean closed;

    @Override
    public List<Result> publish(List<StoredMessage> messages) {
      return List.of();
    }

    @Override
    public String address() {
      return "there";
    }

    @Override
    public Optional<String> unreachable(Duration patience) {
      return Optional.of("away for " + patience);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Test
  @DisplayName("hides no ability of the publisher")
  void abilities() throws Exception {
    Broker publisher = new Broker();
    MessagePublisher traced = tracing.publisher(publisher);
    assertThat(traced.address()).isEqualTo("there");
    assertThat(traced.unreachable(Duration.ofSeconds(3))).hasValue("away for PT3S");
    traced.close();
    assertThat(publisher.closed).isTrue();
    assertThat(tracing.publisher(broker).address()).isNull();
  }
}
