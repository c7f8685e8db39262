package dev.outbox.dev.torture;

import dev.outbox.OutboxException;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Kind;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who repairs dead letters and requeues them, or discards them, and always those that
 * nobody can repair; and who cancels messages that are not due. Used by one thread.
 */
final class Operator {
  private static final int MOST = 1_000;
  private static final Query SCHEDULED = Query.first(Status.SCHEDULED, MOST);
  private static final Who MYSELF = Who.named("operator");

  private final DeadLetterStore store;
  private final @Nullable Who who;
  private final Repairs repairs;
  private final Journal journal;
  private final Random random;

  /** Which messages it discarded or cancelled, or may have: the answer was lost. */
  final Set<UUID> discarded = new HashSet<>();

  /**
   * Somebody.
   *
   * @param store which is an {@link InspectionStore}, too
   * @param audited whether the store remembers who decided
   */
  Operator(DeadLetterStore store, boolean audited, Repairs repairs, Journal journal, long seed) {
    this.store = store;
    who = audited ? MYSELF : null;
    this.repairs = repairs;
    this.journal = journal;
    random = new Random(seed);
  }

  /** Looks at some dead letters and what is not due, or at all dead letters. */
  void look(boolean all) {
    try {
      long after = 0;
      List<DeadLetter> letters;
      do {
        letters = store.deadLetters(after, MOST);
        for (DeadLetter letter : letters) {
          after = letter.message().sequence();
          decide(letter, all);
        }
      } while (letters.size() == MOST);
      if (!all) {
        cancelSome();
      }
    } catch (OutboxException e) {
      // the database is away
    }
  }

  private void decide(DeadLetter letter, boolean all) {
    Work work = Work.of(letter.message().message());
    if (work.kind() == Kind.EXPIRED || !(all || random.nextInt(4) == 0)) {
      return; // one that had expired is left for the oracle: it cannot be dead
    }
    long sequence = letter.message().sequence();
    journal.write("letter", sequence, work.id());
    if (!work.kind().repairable() || random.nextInt(3) == 0) {
      take(sequence, work.id(), "discard", store::discard);
    } else {
      repairs.add(work.id());
      journal.write(
          "requeue", sequence, work.id(), !store.requeue(Set.of(sequence), who).isEmpty());
    }
  }

  private void cancelSome() {
    for (Listed one : ((InspectionStore) store).messages(SCHEDULED).found()) {
      if (random.nextInt(4) == 0) {
        take(one.sequence(), UUID.fromString(one.id()), "cancel", store::cancel);
      }
    }
  }

  private void take(
      long sequence, UUID id, String what, BiFunction<Set<Long>, @Nullable Who, Set<Long>> how) {
    boolean isFirstTry = discarded.add(id);
    boolean gone = !how.apply(Set.of(sequence), who).isEmpty();
    if (!gone && isFirstTry) {
      discarded.remove(id); // it has to come, or is a dead letter still
    }
    journal.write(what, sequence, id, gone);
  }
}
