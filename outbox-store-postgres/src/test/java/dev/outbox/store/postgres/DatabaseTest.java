package dev.outbox.store.postgres;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Decision;
import dev.outbox.spi.StoredMessage;
import dev.outbox.store.jdbc.DatabaseTests;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends DatabaseTests {
  DatabaseTest() {
    super(new Postgres());
  }

  /** Delivers all that is due; in the order of the sequences. */
  protected final List<OutboxMessage> delivered() {
    List<StoredMessage> all = new ArrayList<>();
    Claim claim = store.claim(request());
    while (!claim.messages().isEmpty()) {
      all.addAll(claim.messages());
      claim.settle(
          claim.messages().stream()
              .collect(Collectors.toMap(StoredMessage::sequence, m -> Decision.delivered())));
      claim = store.claim(request());
    }
    return all.stream()
        .sorted(Comparator.comparingLong(StoredMessage::sequence))
        .map(StoredMessage::message)
        .toList();
  }
}
