package dev.outbox.tck.store;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What the tests of an archive (S7) say. */
@Rule("S7")
abstract class ArchiveStoreTests<T> extends StoreTests<T> {
  static final Instant EVER = Instant.parse("2100-01-01T00:00:00Z");
  static final Search ALL = Search.between(Instant.EPOCH, EVER);
  static final Who SOMEBODY = new Who("alice", "the consumer was wrong");

  /** More than any test archives. */
  static final int MANY = 1_000;

  final ArchiveStore with(Archive archive) {
    return with(archive, null);
  }

  final ArchiveStore with(Archive archive, @Nullable Duration deadLetterRetention) {
    Archives<T> fixture = tck.fixture(Archives.class);
    OutboxStore<T> store = fixture.createStore(archive, deadLetterRetention);
    tck.use(store);
    return tck.ability(ArchiveStore.class);
  }

  final List<Archived> archived(Search search) {
    return tck.ability(ArchiveStore.class).archived(search, MANY);
  }

  static List<StoredMessage> messages(List<Archived> archived) {
    return archived.stream().map(Archived::message).toList();
  }

  final void assertArchived(String when, Object... expected) {
    assertCame("the archive, %s".formatted(when), messages(archived(ALL))).inAnyOrder(expected);
  }

  final Archived one(Search search) {
    List<Archived> found = archived(search);
    expect("what is archived of %s".formatted(search), found).hasSize(1);
    return found.get(0);
  }

  /** That this message alone is archived, and how it left. */
  final void assertLeft(
      OutboxMessage message, Outcome outcome, @Nullable String error, int attempts) {
    Archived archived = one(ALL);
    expect("id of what left", id(archived.message())).isEqualTo(message.id());
    expect("outcome of what left", archived.outcome()).isEqualTo(outcome);
    expect("error of what left", archived.error()).isEqualTo(error);
    expect("attempts that had failed", archived.message().attempts()).isEqualTo(attempts);
  }

  static OutboxMessage.Builder full(String order) {
    return message(order)
        .partitionKey("party \uD83C\uDF89 " + order)
        .contentType("application/octet-stream")
        .payload(new byte[] {0, -1, 127, '\\', '\''})
        .header("b", "2")
        .header("a", "")
        .header("b", "\u00FC")
        .dedupKey("dedup " + UUID.randomUUID())
        .correlationId("correlation")
        .maxAttempts(7);
  }
}
