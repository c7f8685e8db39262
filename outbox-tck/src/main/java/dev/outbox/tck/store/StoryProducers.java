package dev.outbox.tck.store;

import static dev.outbox.tck.store.Step.one;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.store.StoryMessages.StoryMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What producers do in a story. */
final class StoryProducers<T> extends StoreTests<T> {
  private final StoryLog log;
  private final StoryMessages messages;
  private final List<String> names;
  private final Map<Integer, Open<T>> open = new TreeMap<>();
  private int places;

  /**
   * @param names of keys
   */
  StoryProducers(PatientFixture<T> tck, StoryLog log, StoryMessages messages, List<String> names) {
    super(tck);
    this.log = log;
    this.messages = messages;
    this.names = names;
  }

  /** The transactions that stay open. */
  Set<Integer> openOnes() {
    return open.keySet();
  }

  private record Open<T>(OpenWork<T> actual, List<StoryMessage> appended, AtomicBoolean dedup) {}

  /** Whether something was committed. */
  boolean append(Random random) {
    int number = one(random, 4, 1, 1); // 0: one of its own, which commits; others stay open
    boolean mayHaveDedupKey = mayTakeDedupKey(number);
    List<StoryMessage> some =
        Stream.generate(() -> message(random, mayHaveDedupKey))
            .limit(1 + random.nextInt(3))
            .toList();
    boolean dedup = some.stream().anyMatch(m -> m.content.dedupKey() != null);
    log.rule = dedup ? "A4" : log.rule;
    inTransaction(
        number,
        "appends " + some.stream().map(StoryMessages::described).collect(Collectors.joining(", ")),
        open -> {
          open.dedup.compareAndSet(false, dedup);
          Set<UUID> actual = append(open.actual, some.stream().map(m -> m.content).toList());
          for (StoryMessage message : some) {
            boolean stored = !messages.isDuplicate(message, open.appended);
            check(
                stored != actual.contains(message.content.id()),
                stored
                    ? "A4: append says that message %s is a duplicate, and it is none"
                    : "A4: append does not say that message %s is a duplicate",
                message);
            if (stored) {
              open.appended.add(message);
            } else {
              log.add(", " + message + " a duplicate");
              log.saw("duplicate");
            }
          }
        });
    return number == 0;
  }

  /** Else it would wait for another transaction; or fail, where transactions are snapshots. */
  private boolean mayTakeDedupKey(int number) {
    return open.entrySet().stream().noneMatch(e -> e.getKey() != number && e.getValue().dedup.get())
        && (number == 0 || !tck.is(FailsOnConflict.class));
  }

  private static UUID id(int number) {
    return UUID.nameUUIDFromBytes(("message " + number).getBytes(StandardCharsets.UTF_8));
  }

  private StoryMessage message(Random random, boolean mayHaveDedupKey) {
    int number = messages.number();
    OutboxMessage.Builder builder =
        message(names.get(one(random, 4, 2, 1, 1))).id(id(number)).payload("" + number);
    switch (one(random, 7, 2, mayHaveDedupKey ? 2 : 0, 1)) {
      case 1 -> builder.deliverAfter(Duration.ofHours(1));
      case 2 -> builder.dedupKey("request");
      case 3 -> builder.unordered();
      default -> {}
    }
    return messages.add(builder.build());
  }

  private void inTransaction(int number, String what, Consumer<Open<T>> action) {
    log.say("transaction %s%s", number == 0 ? "" : number + " ", what);
    Open<T> transaction =
        open.computeIfAbsent(
            number, n -> new Open<>(new OpenWork<>(tck), new ArrayList<>(), new AtomicBoolean()));
    action.accept(transaction);
    if (number == 0) {
      ends(0, true);
    } else {
      log.add(", and stays open");
    }
  }

  /** Whether there is such a transaction. */
  boolean end(int number, boolean commits) {
    boolean isOpen = open.containsKey(number);
    if (isOpen) {
      log.say("transaction %s %s", number, commits ? "commits" : "rolls back");
      ends(number, commits);
    }
    return isOpen;
  }

  private void ends(int number, boolean commits) {
    Open<T> transaction = requireNonNull(open.remove(number));
    if (commits) {
      transaction.actual.commit();
      transaction.appended.forEach(this::committed);
    } else {
      transaction.actual.rollback();
    }
  }

  private void committed(StoryMessage message) {
    messages.commit(message);
    if (tck.is(SequencesAtCommit.class)) {
      message.place = ++places;
    }
    if (messages.besides(message).anyMatch(m -> m.committed && m.place > message.place)) {
      message.passable = true;
      log.saw("late commit");
    }
  }

  void close() {
    open.values().forEach(transaction -> transaction.actual.close());
  }
}
