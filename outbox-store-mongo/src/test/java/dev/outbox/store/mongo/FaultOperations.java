package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.lt;
import static dev.outbox.store.mongo.TestDatabase.message;
import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.ClientSession;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.store.mongo.Faults.Sent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** What a store does, each with what comes before it and what its caller does after it. */
final class FaultOperations {
  private static final Who SOMEBODY = Who.named("alice");

  private final FaultStage stage;

  FaultOperations(FaultStage stage) {
    this.stage = stage;
  }

  /** Prepared without faults, for one run. */
  interface Operation {
    Attempt prepare();

    /** Those of its commands of which it is of interest what happens when they fail. */
    default List<Sent> ofInterest(List<Sent> commands) {
      return commands;
    }
  }

  /**
   * @param work what is run with faults
   * @param then what its caller does then, without: given the failure, or null
   */
  record Attempt(Runnable work, Consumer<@Nullable RuntimeException> then) {}

  /** What an operation returned, if it did. */
  static final class Got<V> {
    @Nullable V value;
  }

  Map<String, Operation> all() {
    Map<String, Operation> all = new LinkedHashMap<>();
    all.put("append", () -> append(Set.of(), message("plain"), message("new")));
    all.put("append with dedup keys", this::appendWithDedupKeys);
    all.put("append with a delay", () -> append(Set.of(), delayed()));
    ClaimOperations claims = new ClaimOperations(stage);
    all.put("claim", claims::claim);
    all.put("claim of a suspect", only(FaultOperations::writes, claims::claimSingly));
    all.put("renew", claims::renew);
    all.put("settle", claims::settle);
    all.put("settle of a suspect", claims::settleSingly);
    all.put("settle and claim", only(FaultOperations::firstTransaction, claims::settleAndClaim));
    all.put("requeue of what halts its key", () -> requeue(stage.halting));
    all.put("requeue", () -> requeue(stage.dead));
    all.put("discard of what halts its key", () -> discard(stage.halting));
    all.put("discard", () -> discard(stage.dead));
    all.put("settle into the archive", archiving(claims::settle));
    all.put(
        "discard into the archive, with an entry",
        archiving(() -> discard(stage.halting, SOMEBODY)));
    all.put("replay", archiving(this::replay));
    all.put("dead letters", () -> read(() -> assertThat(deadLetters()).hasSize(2)));
    all.put(
        "statistics", () -> read(() -> assertThat(statistics()).containsExactly(10L, 1L, 5L, 2L)));
    all.put("verify", () -> read(() -> stage.store.verify()));
    all.put("housekeep", only(FaultOperations::ends, this::housekeep));
    return all;
  }

  private Operation archiving(Operation operation) {
    return () -> {
      stage.archive();
      return operation.prepare();
    };
  }

  private static Operation only(UnaryOperator<List<Sent>> ofInterest, Operation operation) {
    return new Operation() {
      @Override
      public Attempt prepare() {
        return operation.prepare();
      }

      @Override
      public List<Sent> ofInterest(List<Sent> commands) {
        return ofInterest.apply(commands);
      }
    };
  }

  /** Those that count attempts, and the commit. */
  private static List<Sent> writes(List<Sent> commands) {
    return commands.stream()
        .filter(sent -> Set.of("update", "commitTransaction").contains(sent.command()))
        .toList();
  }

  /** What comes after it depends on how much time has passed. */
  private static List<Sent> firstTransaction(List<Sent> commands) {
    return commands.subList(0, commands.indexOf(new Sent("commitTransaction", 1)) + 1);
  }

  /**
   * Of a name the first two and the last. There is a transaction for each of 64 buckets, and what
   * fails in one of them is the same in the next.
   */
  private static List<Sent> ends(List<Sent> commands) {
    Map<String, Integer> last = new HashMap<>();
    commands.forEach(sent -> last.merge(sent.command(), sent.nth(), Math::max));
    return commands.stream()
        .filter(sent -> sent.nth() <= 2 || sent.nth() == last.get(sent.command()))
        .toList();
  }

  private static OutboxMessage.Builder delayed() {
    return message("new").deliverAfter(Duration.ofMillis(1));
  }

  // ---- append

  private Attempt appendWithDedupKeys() {
    OutboxMessage.Builder again = message("again").id(UUID.randomUUID()).dedupKey("taken");
    return append(
        Set.of(again.build().id()),
        again,
        message("new").dedupKey("b"),
        message("new").dedupKey("a"),
        message("new").dedupKey("long ago"));
  }

  /** In the caller's transaction, which commits when the append has succeeded. */
  private Attempt append(Set<UUID> duplicates, OutboxMessage.Builder... builders) {
    List<OutboxMessage> messages =
        List.of(builders).stream().map(OutboxMessage.Builder::build).toList();
    ClientSession session = stage.faults.client.startSession();
    session.startTransaction();
    return new Attempt(
        () -> assertThat(stage.store.append(session, messages).duplicates()).isEqualTo(duplicates),
        failure -> {
          if (failure == null) {
            session.commitTransaction();
            stage.promises.committed(
                messages.stream().filter(m -> !duplicates.contains(m.id())).toList());
          }
          session.close();
          boolean taken = stage.collections.dedup().countDocuments(eq("_id", "a")) > 0;
          assertThat(taken)
              .as("whether the dedup key is taken")
              .isEqualTo(failure == null && messages.size() == 4);
        });
  }

  // ---- the others

  private Attempt requeue(long sequence) {
    Got<Boolean> done = new Got<>();
    return new Attempt(
        () -> done.value = stage.store.requeue(sequence),
        failure -> {
          stage.faults.endTransactions(); // a commit that never arrived left one open
          boolean again = stage.store.requeue(sequence);
          assertThat(again || failure == null || !isDead(sequence)).isTrue();
          assertThat(again && done.value != null).as("requeued twice").isFalse();
          stage.promises.requeued(stage.idOf(sequence));
        });
  }

  private Attempt discard(long sequence) {
    return discard(sequence, () -> stage.store.discard(sequence));
  }

  private Attempt discard(long sequence, Who by) {
    Attempt discard = discard(sequence, () -> !stage.store.discard(Set.of(sequence), by).isEmpty());
    return new Attempt(
        discard.work(),
        failure -> {
          discard.then().accept(failure);
          assertThat(stage.store.audit(Instant.EPOCH, 10)).hasSize(1);
        });
  }

  private Attempt discard(long sequence, BooleanSupplier work) {
    Got<Boolean> done = new Got<>();
    return new Attempt(
        () -> done.value = work.getAsBoolean(),
        failure -> {
          stage.faults.endTransactions();
          boolean again = work.getAsBoolean();
          assertThat(again && done.value != null).as("discarded twice").isFalse();
          assertThat(isDead(sequence)).isFalse();
          stage.promises.discarded(stage.idOf(sequence));
        });
  }

  /** All or nothing: the messages and their entries. */
  private Attempt replay() {
    while (stage.deliverNext() > 0) {}
    List<Archived> some = stage.archived().subList(0, 2);
    return new Attempt(
        () -> assertThat(stage.store.replay(some, SOMEBODY).stored()).hasSize(2),
        failure -> {
          stage.faults.endTransactions();
          List<Document> again =
              stage
                  .collections
                  .message()
                  .find(eq("headers.name", Header.REPLAY_OF))
                  .into(new ArrayList<>());
          assertThat(again.size()).isIn(failure == null ? List.of(2) : List.of(0, 2));
          assertThat(stage.steady.audit(Instant.EPOCH, 10)).hasSameSizeAs(again);
          for (Document one : again) {
            stage.promises.committed(Documents.uuid(one.get("id")), Documents.key(one), true);
          }
        });
  }

  private boolean isDead(long sequence) {
    return stage.steady.deadLetters(sequence - 1, 1).stream()
        .anyMatch(letter -> letter.message().sequence() == sequence);
  }

  private Attempt read(Runnable work) {
    return new Attempt(
        work,
        failure -> {
          if (failure != null) {
            stage.faults.endTransactions();
            work.run();
          }
        });
  }

  private List<?> deadLetters() {
    return stage.store.deadLetters(0, 10);
  }

  private List<Long> statistics() {
    var statistics = stage.store.statistics(10_000);
    return List.of(
        statistics.pending(), statistics.scheduled(), statistics.blocked(), statistics.dead());
  }

  /** Somebody has deleted documents of buckets. */
  private Attempt housekeep() {
    stage.collections.bucket().deleteMany(lt("_id", 2));
    return read(
        () -> {
          stage.store.housekeep();
          assertThat(stage.collections.bucket().countDocuments()).isEqualTo(64);
          assertThat(stage.collections.dedup().countDocuments()).isEqualTo(1);
        });
  }
}
