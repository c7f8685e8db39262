package dev.outbox.publisher.handler;

import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;

/** A handler for each event type of the suite. */
class HandlerTckTest extends HandlerTck {
  @Override
  MessagePublisher publisher(MessageHandler handler) {
    return handlers(handler, timeout());
  }

  static MessagePublisher handlers(MessageHandler handler, Duration timeout) {
    return HandlerPublisher.builder()
        .timeout(timeout)
        .on("rejected", handler)
        .on("missing", handler)
        .on("not durable", handler)
        .on("hangs", handler)
        .onOthers(handler)
        .build();
  }
}
