package dev.outbox.cli;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;

/** Dead letters in pages, of any store that has some, or other messages. */
final class DeadLetterPages {
  /** Each may have a large payload where a store has no list without them. */
  private static final int MOST_WITH_PAYLOAD = 20;

  private DeadLetterPages() {}

  /**
   * @throws Failure when the store knows no filters, and there are some
   */
  static Listing.Source<Listed> of(DeadLetterStore store, Status status, Filters filters) {
    if (store instanceof InspectionStore || status != Status.DEAD || !filters.areNone()) {
      InspectionStore looked = Stores.as(InspectionStore.class, store);
      return (after, limit) -> looked.messages(filters.query(status, after, limit));
    }
    return (after, limit) -> {
      int most = Math.min(limit, MOST_WITH_PAYLOAD);
      return page(store.deadLetters(after == null ? 0 : Long.parseLong(after), most), most);
    };
  }

  private static Page<Listed> page(List<DeadLetter> letters, int most) {
    return new Page<>(
        letters.stream().map(DeadLetterPages::listed).toList(),
        letters.size() == most
            ? Long.toString(letters.get(letters.size() - 1).message().sequence())
            : null);
  }

  private static Listed listed(DeadLetter letter) {
    StoredMessage stored = letter.message();
    OutboxMessage message = stored.problem() == null ? stored.message() : null;
    return new Listed(
        stored.sequence(),
        message == null ? "" : message.id().toString(),
        Status.DEAD,
        stored.key(),
        stored.aggregateType(),
        message == null ? null : message.eventType(),
        message == null ? null : message.dedupKey(),
        stored.attempts(),
        stored.createdAt(),
        message == null ? null : message.availableAt(),
        message == null ? null : message.expiresAt(),
        letter.error(),
        letter.failedAt(),
        letter.haltsKey());
  }
}
