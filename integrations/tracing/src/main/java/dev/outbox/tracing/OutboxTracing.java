package dev.outbox.tracing;

import dev.outbox.JoinedOutbox;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import java.util.List;

/**
 * Traces through the outbox, with the API of OpenTelemetry.
 *
 * <ul>
 *   <li>{@link #outbox(Outbox)}: an append stores the current span's context with each message, in
 *       the headers {@code traceparent} and {@code tracestate}. That is the message's creation
 *       context: it travels to the consumer, who continues the trace.
 *   <li>{@link #publisher}: each batch that a relay publishes is a span, linked to the creation
 *       contexts of its messages.
 *   <li>{@link #send}: keeps the creation context where instrumentation of the broker's client
 *       writes these headers itself.
 * </ul>
 *
 * <p>Safe for use by many threads.
 */
public final class OutboxTracing {
  private static final String SCOPE = "dev.outbox";

  private final Tracer tracer;
  private final boolean messageSpans;

  private OutboxTracing(Tracer tracer, boolean messageSpans) {
    this.tracer = tracer;
    this.messageSpans = messageSpans;
  }

  /** Traces with one span for each batch. */
  public static OutboxTracing of(OpenTelemetry openTelemetry) {
    return new OutboxTracing(openTelemetry.getTracer(SCOPE), false);
  }

  /**
   * The same, with a span for each message too: a child of the span that appended it, linked to the
   * batch. A trace then shows when its messages were published; it costs a span a message.
   */
  public OutboxTracing withMessageSpans() {
    return new OutboxTracing(tracer, true);
  }

  /**
   * An outbox whose messages carry the context of the span that is current at the append. A message
   * with a {@code traceparent} of its own keeps it; without a current span, or where a message has
   * as many headers as it may have, nothing is added.
   */
  public <T> Outbox<T> outbox(Outbox<T> outbox) {
    return (transaction, messages) -> outbox.append(transaction, traced(messages));
  }

  /** As {@link #outbox(Outbox)}, for one that joins the current transaction. */
  public JoinedOutbox outbox(JoinedOutbox outbox) {
    return messages -> outbox.append(traced(messages));
  }

  private static List<OutboxMessage> traced(List<OutboxMessage> messages) {
    return Span.current().getSpanContext().isValid()
        ? messages.stream().map(TraceHeaders::withCurrent).toList()
        : messages;
  }

  /**
   * A publisher for the relay: each call is a span of kind {@link SpanKind#CLIENT}, current while
   * the broker's client works, and linked to the creation contexts of its messages. It is an error
   * when a message was not delivered. Closing it closes the publisher given.
   */
  public MessagePublisher publisher(MessagePublisher publisher) {
    return new TracingPublisher(publisher, tracer, messageSpans);
  }

  /**
   * Runs what sends a message, with the message's creation context as the current one; with the
   * Kafka publisher: {@code KafkaPublisher.builder().aroundSend(tracing::send)}. OpenTelemetry's
   * agent and its instrumentation of Kafka's client replace the headers of each record by those of
   * the current context. Without this method all messages of a batch would belong to the relay's
   * trace. A message without a creation context is sent without a current span.
   */
  public void send(StoredMessage message, Runnable send) {
    TraceHeaders.of(message.message()).wrap(send).run();
  }
}
