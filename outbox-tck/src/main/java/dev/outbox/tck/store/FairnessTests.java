package dev.outbox.tck.store;

import static dev.outbox.tck.internal.Decisions.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Sentence;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;

/** C6: nothing starves. */
@Rule("C6")
abstract class FairnessTests<T> extends StoreTests<T> {

  /** How many claims count as bounded here: many times what any fair way to choose needs. */
  private static final int MAX_CLAIMS = 500;

  private List<OutboxMessage> oneOfEach(int keys) {
    return committed(keys, i -> "k" + i);
  }

  /** Claims until the message comes, deciding by {@code others} on what comes instead. */
  private void assertComes(
      OutboxMessage wanted, int max, Function<StoredMessage, Decision> others) {
    for (int i = 0; i < MAX_CLAIMS; i++) {
      Claim claim = claim(max, LONG);
      if (ids(claim).contains(wanted.id())) {
        return;
      }
      claim.settle(each(claim, others));
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
    assertComes(wanted, 3, m -> again());
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
    assertComes(wanted, 1, m -> Decision.delivered());
  }
}
