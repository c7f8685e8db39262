package dev.outbox.dev.torture;

import dev.outbox.dev.database.Work;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.InspectionStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who repairs dead letters and requeues them, or discards them, and always those that
 * nobody can repair; and who cancels messages that are not due. Used by one thread.
 *
 * @param store which is an {@link InspectionStore}, too
 * @param who null: the store does not remember who decided
 * @param discarded which messages it discarded or cancelled, or may have: the answer was lost
 */
record Operator(
    DeadLetterStore store,
    @Nullable Who who,
    Repairs repairs,
    Journal journal,
    Random random,
    Set<UUID> discarded) {
  private static final int MOST = 1_000;
  private static final InspectionStore.Query SCHEDULED =
      InspectionStore.Query.first(InspectionStore.Status.SCHEDULED, MOST);

  /** Which messages the broker takes now that somebody repaired them: a file each. */
  record Repairs(Path directory) {

    private void add(UUID id) {
      try {
        Files.write(file(id), new byte[0]);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    boolean has(UUID id) {
      return Files.exists(file(id));
    }

    private Path file(UUID id) {
      return directory.resolve("repaired-" + id);
    }
  }

  /** Looks at some dead letters and what is not due, or at all dead letters. */
  void look(boolean all) {
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
      for (InspectionStore.Listed one : ((InspectionStore) store).messages(SCHEDULED).found()) {
        if (random.nextInt(4) == 0) {
          take(one.sequence(), UUID.fromString(one.id()), "cancel", store::cancel);
        }
      }
    }
  }

  private void decide(DeadLetter letter, boolean all) {
    UUID id = letter.message().message().id();
    Work.Kind kind = Work.Kind.valueOf(letter.message().message().eventType());
    if (kind == Work.Kind.EXPIRED || !(all || random.nextInt(4) == 0)) {
      return; // one that had expired is left for the oracle: it cannot be dead
    }
    long sequence = letter.message().sequence();
    journal.write("letter", sequence, id);
    if (!kind.repairable() || random.nextInt(3) == 0) {
      take(sequence, id, "discard", store::discard);
    } else {
      repairs.add(id);
      journal.write("requeue", sequence, id, !store.requeue(Set.of(sequence), who).isEmpty());
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
