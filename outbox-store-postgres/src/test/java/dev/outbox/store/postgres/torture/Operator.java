package dev.outbox.store.postgres.torture;

import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/** Somebody who repairs or discards dead letters; those that were doomed are left as they are. */
final class Operator {
  private final PostgresOutboxStore store;
  private final Journal journal;
  private final Random random;

  final Set<UUID> discarded = new HashSet<>();
  int requeued;

  Operator(PostgresOutboxStore store, Journal journal, long seed) {
    this.store = store;
    this.journal = journal;
    this.random = new Random(seed);
  }

  /**
   * @param all or only some of them
   */
  void look(boolean all) {
    for (DeadLetter letter : store.deadLetters(0, 1_000)) {
      Work work = Work.of(letter.message().message());
      if (work.kind() == Work.Kind.DOOMED || !(all || random.nextInt(4) == 0)) {
        continue;
      }
      if (random.nextInt(3) == 0) {
        if (store.discard(letter.message().sequence())) {
          discarded.add(work.id());
        }
      } else {
        if (!journal.isRepaired(work.id())) {
          journal.repair(work.id());
        }
        requeued += store.requeue(letter.message().sequence()) ? 1 : 0;
      }
    }
  }
}
