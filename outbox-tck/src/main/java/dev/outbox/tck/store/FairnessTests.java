package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;

/** C6: nothing starves, and no key is left without a head. */
@Rule("C6")
abstract class FairnessTests<T> extends StoreTests<T> {

  /** How many claims count as bounded here: many times what any fair way to choose needs. */
  private static final int MAX_CLAIMS = 500;

  private List<OutboxMessage> oneOfEach(int keys) {
    return committed(keys, i -> "k" + i);
  }

  /** Claims until the message comes, deciding by {@code others} on what comes instead. */
  private void assertComes(
      OutboxMessage wanted, int max, Function<StoredMessage, Decision> others, Runnable each) {
    for (int i = 0; i < MAX_CLAIMS; i++) {
      each.run();
      Claim claim = claim(max, LONG);
      if (ids(claim).contains(wanted.id())) {
        return;
      }
      Map<Long, Decision> decisions = new HashMap<>();
      claim.messages().forEach(m -> decisions.put(m.sequence(), others.apply(m)));
      settle(claim, decisions);
    }
    throw failed("a due message did not come in %s claims: others keep it away", MAX_CLAIMS);
  }

  private static Decision again() {
    return Decision.retry(Duration.ZERO, "fails at once");
  }

  @Sentence("after the clock was put back no key waits until the clock has come up again")
  void servedAfterClockPutBack() {
    MovesClock clock = tck.fixture(MovesClock.class);
    oneOfEach(8);
    Set<String> before = servedOneByOne(8);
    clock.moveClock(Duration.ofHours(-1));
    assertThat(servedOneByOne(8))
        .as(
            "keys served after the clock was put back by an hour, while each key always has a message that is due; before it were %s",
            before)
        .hasSize(8);
  }

  /** Delivers one message a claim, and appends the next to its key, until so many keys came. */
  private Set<String> servedOneByOne(int keys) {
    Set<String> served = new TreeSet<>();
    for (int i = 0; i < MAX_CLAIMS && served.size() < keys; i++) {
      Claim claim = claim(1, LONG);
      for (StoredMessage m : claim.messages()) {
        served.add(m.key());
        commit(List.of(message(m.message().aggregateId()).build()));
        settle(claim, Decision.delivered());
      }
    }
    return served;
  }

  @Sentence("many keys whose heads fail at once do not keep a pending message away")
  void failingHeads() {
    oneOfEach(40);
    for (int i = 0; i < 40; i++) {
      settle(claim(1, LONG), again());
    }
    OutboxMessage wanted = committed(message("wanted"));
    assertComes(wanted, 3, m -> again(), () -> {});
  }

  @Sentence("a stream of new messages on many keys does not keep a message due for retry away")
  void newMessages() {
    OutboxMessage wanted = committed(message("wanted"));
    settle(claim(), again());
    assertComes(wanted, 3, m -> Decision.delivered(), () -> oneOfEach(5));
  }

  @Sentence("a backlog of many keys keeps away neither a retry nor a delayed message, one by one")
  void oneByOne() {
    OutboxMessage retried = committed(message("retried"));
    settle(claim(), again());
    OutboxMessage delayed = committed(message("delayed").deliverAfter(soon()));
    Set<UUID> wanted = new HashSet<>(idsOf(retried, delayed));
    boolean ignored =
        await(
            "a retry and a delayed message, in claims of one message beside a backlog",
            () -> {
              committed(1_000, i -> "k" + i % 300);
              for (int i = 0; i < MAX_CLAIMS && !wanted.isEmpty(); i++) {
                Claim claim = claim(1, LONG);
                ids(claim).forEach(wanted::remove);
                settle(claim, Decision.delivered());
              }
              assertThat(wanted).as("a retry that is due").doesNotContain(retried.id());
              return wanted.isEmpty() ? true : null;
            });
  }

  @Sentence("one key with a long backlog does not keep other keys away")
  void longKey() {
    committed("long", 1_000);
    OutboxMessage wanted = committed(message("wanted"));
    assertComes(wanted, 1, m -> Decision.delivered(), () -> {});
  }

  @Sentence("no order of operations leaves a key stuck")
  void neverStuck() {
    long seed = loadSeed();
    Random random = new Random(seed);
    for (int episode = 0; episode < 25; episode++) {
      tck.prepare();
      List<String> log = new ArrayList<>();
      try {
        new Episode(random, log).play();
      } catch (AssertionError e) {
        throw new AssertionError(
            "%s, after: %s; again with -Doutbox.tck.seed=%s"
                .formatted(e.getMessage(), String.join(", ", log), seed),
            e);
      }
    }
  }

  /** Some random operations on one key, and then the question whether all of it still comes. */
  private final class Episode {
    private final Random random;
    private final List<String> log;
    private final Set<UUID> expected = new TreeSet<>();

    Episode(Random random, List<String> log) {
      this.random = random;
      this.log = log;
    }

    void play() {
      try (OpenWork<T> late = open()) {
        OutboxMessage low = message("k").build();
        append(late, low);
        int commitAt = random.nextInt(12);
        for (int i = 0; i < 12; i++) {
          if (i == commitAt) {
            log.add("commit the oldest late");
            late.commit();
            expected.add(low.id());
          }
          step();
        }
      }
      decideDeadLetters();
      tck.await(
          "all messages of the key",
          () -> {
            drain().forEach(m -> expected.remove(id(m)));
            return expected.isEmpty() ? true : null;
          },
          () -> ", missing " + expected.size() + whyInVain());
    }

    private void step() {
      switch (random.nextInt(5)) {
        case 0 -> {
          log.add("append");
          expected.add(committed(message("k")).id());
        }
        case 1 -> {
          log.add("append delayed");
          expected.add(committed(message("k").deliverAfter(shortDelay())).id());
        }
        case 2 -> decideDeadLetters();
        default -> claimAndSettle();
      }
    }

    private Duration shortDelay() {
      return Duration.ofMillis(random.nextInt(15));
    }

    private void claimAndSettle() {
      Claim claim = claim(1 + random.nextInt(3), LONG);
      Map<Long, Decision> decisions = new HashMap<>();
      for (StoredMessage message : claim.messages()) {
        int choice = random.nextInt(6);
        log.add(
            "claim and "
                + List.of("deliver", "fail", "unavailable", "die", "block", "give back")
                    .get(choice));
        Decision decision =
            switch (choice) {
              case 0 -> Decision.delivered();
              case 1 -> Decision.retry(shortDelay(), "no");
              case 2 -> Decision.retryUncounted(shortDelay(), "no");
              case 3, 4 -> store() instanceof DeadLetterStore ? dead(choice == 4) : null;
              default -> null;
            };
        if (decision != null) {
          decisions.put(message.sequence(), decision);
        }
        if (choice != 0) {
          break; // the relay goes on only after a delivery
        }
        expected.remove(id(message));
      }
      settle(claim, decisions);
    }

    private void decideDeadLetters() {
      if (store() instanceof DeadLetterStore letters) {
        for (DeadLetter letter : letters.deadLetters(0, 100)) {
          boolean requeue = random.nextBoolean();
          log.add(requeue ? "requeue" : "discard");
          if (requeue) {
            letters.requeue(letter.message().sequence());
          } else {
            letters.discard(letter.message().sequence());
            expected.remove(id(letter.message()));
          }
        }
      }
    }
  }
}
