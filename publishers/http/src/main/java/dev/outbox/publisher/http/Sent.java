package dev.outbox.publisher.http;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.concurrent.CompletableFuture;

/**
 * A message that is sent.
 *
 * @param result completes when its request has ended, also when no call waits for it any more
 */
record Sent(
    StoredMessage message,
    Endpoint endpoint,
    RequestSlots.Slot slot,
    CompletableFuture<Result> result) {}
