package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import dev.outbox.tck.store.CountsWork.Counted;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;

/** C5, F1 and F2, by counted work. */
@Rule("C5")
@Tag("slow")
abstract class WorkTests<T> extends StoreTests<T> {
  private static final int MANY = 9_000;
  private static final int BATCH = 20;
  private static final int CAP = 100;

  /** Of a figure: there are eight. A store may begin to count more than once. */
  private static final int MOST_FOR_EACH_COUNTED = 20;

  private CountsWork<T> fixture() {
    return tck.fixture(CountsWork.class);
  }

  /**
   * The work of a claim beside what {@code build} makes wait, with enough due messages. The least
   * of some claims, because now and then one does a chore, as moving a message aside.
   */
  private long work(Runnable build) {
    CountsWork<T> fixture = fixture();
    tck.prepare();
    build.run();
    committed(2 * BATCH, i -> "due" + i);
    fixture.backlogBuilt();
    release(claim(request(BATCH, LONG))); // what a store does once for all that is new is done
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 5; i++) {
      Counted<Claim> counted = fixture.counted(store(), store -> store.claim(request(BATCH, LONG)));
      if (!counted.result().messages().isEmpty()) {
        least = Math.min(least, counted.work());
      }
      release(counted.result());
    }
    expect("counted work of a claim that brings something", least).isBetween(1L, 1L << 40);
    return least;
  }

  /** Far below what it takes to look at each of what waits. */
  private static long most(long alone) {
    return 3 * alone + 50;
  }

  @Sentence("a claim costs no more after reset() of a large backlog than before it")
  void workAfterReset() {
    long before = work(() -> {});
    commitEach(MANY, i -> message("k" + i).build());
    long after = work(() -> {});
    check(
        after <= most(before),
        "a claim costs %s after reset() of %s messages, and %s before: reset() has to leave an empty table, as TRUNCATE does and DELETE in many databases does not",
        after,
        MANY,
        before);
  }

  private void commitEach(int size, IntFunction<OutboxMessage> message) {
    for (int from = 0; from < size; from += 1_000) {
      commit(IntStream.range(from, Math.min(size, from + 1_000)).mapToObj(message).toList());
    }
  }

  @Sentence("a claim does not cost more the more there is that waits, or is dead")
  void claimBesideABacklog() {
    long alone = work(() -> {});
    backlogs()
        .forEach(
            (what, build) -> {
              long many = work(build);
              check(
                  many <= most(alone),
                  "a claim costs %s beside %s %s, and %s beside nothing: does it read or sort all that waits? An index that leads to what is due, and to no more, avoids that",
                  many,
                  MANY,
                  what,
                  alone);
            });
  }

  private Map<String, Runnable> backlogs() {
    Map<String, Runnable> backlogs = new LinkedHashMap<>();
    backlogs.put("messages of as many keys", () -> commitEach(MANY, i -> message("k" + i).build()));
    backlogs.put(
        "messages of three keys", () -> commitEach(MANY, i -> message("k" + i % 3).build()));
    backlogs.put("keys that wait for a retry", this::retryMany);
    backlogs.put(
        "messages behind a head that waits for a retry",
        () -> {
          committed("k", 1);
          decideAll(1_000, m -> Decision.retry(LONG, "refused"));
          commitEach(MANY, i -> message("k").build());
          // Nothing is due; a store may move them aside.
          decideAll(1_000, m -> Decision.delivered());
        });
    backlogs.put(
        "delayed messages",
        () -> commitEach(MANY, i -> message("k" + i % 100).deliverAfter(LONG).build()));
    backlogs.put("dead letters", this::killMany);
    return backlogs;
  }

  private void killMany() {
    commitEach(MANY, i -> message("k" + i % 100).build());
    decideAll(1_000, m -> Decision.dead("rejected"));
  }

  private void retryMany() {
    commitEach(MANY, i -> message("k" + i).build());
    decideAll(1_000, m -> Decision.retry(LONG, "refused"));
  }

  private <A, R> Counted<R> counted(Class<A> ability, Function<A, R> asks) {
    tck.ability(ability);
    return fixture()
        .counted(
            store(),
            store ->
                ability.isInstance(store)
                    ? asks.apply(ability.cast(store))
                    : fail("the store that counts its work is no " + ability.getSimpleName()));
  }

  /**
   * That what is asked costs no more than so many steps more beside what {@code build} makes wait
   * than beside nothing. The least of some, as for claims.
   *
   * @param looks at each answer
   * @param otherwise a sentence, of the cap, the cost, how many wait, and the cost beside nothing
   */
  private <A, R> void assertCapped(
      Class<A> ability, Function<A, R> asks, Runnable build, Consumer<R> looks, String otherwise) {
    tck.prepare();
    long alone = counted(ability, asks).work();
    build.run();
    fixture().backlogBuilt();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      Counted<R> counted = counted(ability, asks);
      looks.accept(counted.result());
      least = Math.min(least, counted.work());
    }
    check(least <= alone + MOST_FOR_EACH_COUNTED * CAP, otherwise, CAP, least, MANY, alone);
  }

  private void assertReadsAPage(
      String what, Runnable build, Function<InspectionStore, Page<?>> asks) {
    assertCapped(
        InspectionStore.class,
        asks,
        build,
        page -> expect("whether there is another page of " + what, page.next()).isNotNull(),
        "a page of %s "
            + what
            + " costs %s beside %s, and %s beside nothing: does it sort all that there are? The order of an index, with a limit, needs no sort");
  }

  /** That statistics count no further than the cap, beside what {@code build} makes wait. */
  private void assertStatistics(String what, Runnable build, Consumer<Statistics> looks) {
    assertCapped(
        StatisticsStore.class,
        store -> store.statistics(CAP),
        build,
        looks,
        "statistics with a cap of %s cost %s beside %s "
            + what
            + ", and %s beside nothing: do they count to the end? A count of the first entries of an index, with a limit, does not");
  }

  @Rule("F2")
  @Sentence("a page of messages costs no more the more there are")
  void pagesOfMessages() {
    assertReadsAPage(
        "messages",
        () -> commitEach(MANY, i -> message("k" + i % 100).build()),
        store -> store.messages(Query.first(CAP)));
    assertReadsAPage(
        "dead letters",
        this::killMany,
        store -> store.messages(Query.first(InspectionStore.Status.DEAD, CAP)));
  }

  @Rule("F2")
  @Sentence("a page of keys that wait costs no more the more there are")
  void pagesOfKeys() {
    assertReadsAPage(
        "keys that wait", this::retryMany, store -> store.waitingKeys(false, null, CAP));
    assertReadsAPage(
        "halted keys",
        () -> {
          commitEach(MANY, i -> message("k" + i).build());
          decideAll(1_000, m -> Decision.deadHaltingKey("rejected"));
          commitEach(MANY, i -> message("k" + i).build());
          decideAll(1_000, m -> Decision.delivered());
        },
        store -> store.waitingKeys(true, null, CAP));
  }

  @Rule("F1")
  @Sentence("statistics read no further than the cap, of whatever there is much")
  void statisticsOfABacklog() {
    assertStatistics(
        "messages, free and delayed",
        () ->
            commitEach(MANY, i -> message("k" + i).deliverAfter(i % 3 == 0 ? LONG : null).build()),
        statistics ->
            assertThat(statistics)
                .extracting(Statistics::pending, Statistics::scheduled)
                .containsOnly((long) CAP));
    assertStatistics(
        "messages of as many keys, retried, dead or halting",
        () -> {
          commitEach(MANY, i -> message("k" + i).build());
          decideAll(
              1_000,
              m ->
                  switch (Integer.parseInt(m.message().aggregateId().substring(1)) % 3) {
                    case 0 -> Decision.retry(LONG, "refused");
                    case 1 -> Decision.dead("rejected");
                    default -> Decision.deadHaltingKey("rejected");
                  });
        },
        statistics ->
            assertThat(statistics)
                .extracting(
                    Statistics::blocked,
                    Statistics::dead,
                    Statistics::blockedKeys,
                    Statistics::haltedKeys)
                .containsOnly((long) CAP));
  }
}
