package dev.outbox.tracing;

import dev.outbox.Header;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message's creation context, in its headers {@code traceparent} and {@code tracestate}. They are
 * those of the W3C whatever propagators the application uses: a stored message is read by programs
 * with other settings, and in other languages.
 */
final class TraceHeaders {
  private static final TextMapPropagator W3C = W3CTraceContextPropagator.getInstance();
  private static final String TRACEPARENT = "traceparent";
  private static final TextMapGetter<OutboxMessage> GETTER = new Getter();

  private TraceHeaders() {}

  /** The message with the current context, unless there is none, it brings its own, or is full. */
  static OutboxMessage withCurrent(OutboxMessage message) {
    if (GETTER.get(message, TRACEPARENT) != null) {
      return message;
    }
    OutboxMessage.Builder traced = message.toBuilder();
    W3C.inject(
        Context.current(),
        traced,
        (builder, name, value) -> {
          if (builder != null) {
            builder.header(name, value);
          }
        });
    try {
      return traced.build();
    } catch (InvalidMessageException e) { // the limit of headers: a trace is worth no append
      return message;
    }
  }

  /** The context in which the message was appended; without a span when it has none. */
  static Context of(OutboxMessage message) {
    return W3C.extract(Context.root(), message, GETTER);
  }

  private static final class Getter implements TextMapGetter<OutboxMessage> {
    @Override
    public Iterable<String> keys(OutboxMessage message) {
      return message.headers().stream().map(Header::name).toList();
    }

    /** The last of that name, as consumers of Kafka read it. */
    @Override
    public @Nullable String get(@Nullable OutboxMessage message, String name) {
      String last = null;
      for (Header header : message == null ? List.<Header>of() : message.headers()) {
        last = header.name().equals(name) ? header.value() : last;
      }
      return last;
    }
  }
}
