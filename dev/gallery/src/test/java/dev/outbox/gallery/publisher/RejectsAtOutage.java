package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;

/** Calls whatever Kafka's client throws a rejection. */
@Rule("P3")
final class RejectsAtOutage extends OneOfEachKey {
  RejectsAtOutage(Kafka kafka) {
    super(kafka);
  }

  @Override
  Result resultOf(StoredMessage message, Throwable error) {
    return Result.rejected(error.toString());
  }
}
