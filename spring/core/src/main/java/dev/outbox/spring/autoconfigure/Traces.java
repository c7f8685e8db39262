package dev.outbox.spring.autoconfigure;

import dev.outbox.JoinedOutbox;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/**
 * Tracing, without a class of its own in any signature, because those may be missing.
 *
 * @param outbox gives the messages of an outbox the current trace
 * @param publisher makes spans around a publisher
 * @param send sends a message in the trace that it belongs to
 */
record Traces(
    UnaryOperator<JoinedOutbox> outbox,
    UnaryOperator<MessagePublisher> publisher,
    BiConsumer<StoredMessage, Runnable> send) {}
