package dev.outbox.tracing;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes spans around another publisher; see {@link OutboxTracing#publisher}. */
final class TracingPublisher implements MessagePublisher {
  // Names of OpenTelemetry's conventions for messaging, which are not stable yet.
  private static final AttributeKey<String> OPERATION =
      AttributeKey.stringKey("messaging.operation.name");
  private static final AttributeKey<String> OPERATION_TYPE =
      AttributeKey.stringKey("messaging.operation.type");
  private static final AttributeKey<Long> COUNT =
      AttributeKey.longKey("messaging.batch.message_count");
  private static final AttributeKey<String> MESSAGE_ID =
      AttributeKey.stringKey("messaging.message.id");
  private static final AttributeKey<String> AGGREGATE_TYPE =
      AttributeKey.stringKey("outbox.aggregate.type");
  private static final AttributeKey<String> EVENT_TYPE =
      AttributeKey.stringKey("outbox.event.type");

  private final MessagePublisher publisher;
  private final Tracer tracer;
  private final boolean messageSpans;

  TracingPublisher(MessagePublisher publisher, Tracer tracer, boolean messageSpans) {
    this.publisher = publisher;
    this.tracer = tracer;
    this.messageSpans = messageSpans;
  }

  @Override
  @SuppressWarnings("try") // the scope is there to be closed
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    List<Context> creations =
        messages.stream().map(message -> TraceHeaders.of(message.message())).toList();
    Span batch = batch(creations);
    List<Span> each = messageSpans ? each(messages, creations, batch) : List.of();
    try (Scope current = batch.makeCurrent()) {
      List<Result> results = publisher.publish(messages);
      if (results != null) { // or the relay says that the publisher broke its contract
        tell(results, batch, each);
      }
      return results;
    } catch (Throwable e) {
      batch.recordException(e);
      batch.setStatus(StatusCode.ERROR);
      each.forEach(span -> span.setStatus(StatusCode.ERROR));
      throw e;
    } finally {
      each.forEach(Span::end);
      batch.end();
    }
  }

  private Span batch(List<Context> creations) {
    SpanBuilder batch =
        tracer
            .spanBuilder("outbox publish")
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute(OPERATION, "publish")
            .setAttribute(OPERATION_TYPE, "send")
            .setAttribute(COUNT, (long) creations.size());
    creations.stream()
        .map(creation -> Span.fromContext(creation).getSpanContext())
        .filter(SpanContext::isValid)
        .distinct() // the messages of one transaction mostly have one
        .forEach(batch::addLink);
    return batch.startSpan();
  }

  private List<Span> each(List<StoredMessage> messages, List<Context> creations, Span batch) {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      var message = messages.get(i).message();
      spans.add(
          tracer
              .spanBuilder("outbox publish " + message.aggregateType())
              .setSpanKind(SpanKind.PRODUCER)
              .setParent(creations.get(i))
              .addLink(batch.getSpanContext())
              .setAttribute(OPERATION, "publish")
              .setAttribute(OPERATION_TYPE, "send")
              .setAttribute(MESSAGE_ID, message.id().toString())
              .setAttribute(AGGREGATE_TYPE, message.aggregateType())
              .setAttribute(EVENT_TYPE, message.eventType())
              .startSpan());
    }
    return spans;
  }

  /**
   * Undelivered messages make an error, also one that is tried again: the trace shows why it waits.
   */
  private static void tell(List<Result> results, Span batch, List<Span> each) {
    int undelivered = 0;
    String first = "";
    for (int i = 0; i < results.size(); i++) {
      String error = error(results.get(i));
      if (!error.isEmpty()) {
        first = undelivered++ == 0 ? error : first;
        if (i < each.size()) {
          each.get(i).setStatus(StatusCode.ERROR, error);
        }
      }
    }
    if (undelivered > 0) {
      batch.setStatus(
          StatusCode.ERROR,
          "%s of %s messages were not delivered; the first: %s"
              .formatted(undelivered, results.size(), first));
    }
  }

  /** Empty for one that was delivered. */
  private static String error(Result result) {
    if (result instanceof Result.Failed failed) {
      return "failed: " + failed.error();
    }
    if (result instanceof Result.Rejected rejected) {
      return "rejected: " + rejected.error();
    }
    return result instanceof Result.Unavailable unavailable
        ? "unavailable: " + unavailable.error()
        : "";
  }

  @Override
  public @Nullable String address() {
    return publisher.address();
  }

  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    return publisher.unreachable(patience);
  }

  @Override
  public List<Finding> findings(List<StoredMessage> waiting, Duration patience)
      throws InterruptedException {
    return publisher.findings(waiting, patience);
  }

  @Override
  public void close() {
    publisher.close();
  }
}
