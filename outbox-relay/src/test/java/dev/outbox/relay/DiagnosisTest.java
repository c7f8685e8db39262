package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A diagnosis")
class DiagnosisTest {
  private static final Instant NOW = Instant.parse("2026-11-27T10:00:00Z");

  /** A store that says what it is told to, and finds the disk slow. */
  private record Told(Statistics figures, Optional<List<WorkerLease>> leases)
      implements StatisticsStore {
    @Override
    public Statistics statistics(int cap) {
      return figures;
    }

    @Override
    public List<Finding> findings() {
      return List.of(Finding.warning("disk", "the disk is slow", null));
    }
  }

  /**
   * The ages of the oldest free message, now and ten seconds ago, and of the oldest blocked one, in
   * seconds, where -1 means a halted key; who lives and who holds something, where the store can
   * say.
   */
  @ParameterizedTest(name = "free {0}, before {1}, blocked {2}, {3} live, {4} hold: {5}, {6}")
  @DisplayName("says whether it delivers")
  @CsvSource({
    ",    ,    ,    ,  , nothing to do, FINE",
    ",    ,    , 0,   0, nothing to do, FINE",
    "0.5, ,    , 2,   1, delivering, FINE",
    "59,  49,  , 2,   1, delivering, FINE",
    "0.5, ,    , 0,   0, standing still because no relay lives, PROBLEM",
    "61,  ,    ,  ,   0, standing still because no relay holds anything, PROBLEM",
    "61,  51,  , 2,   1, standing still although relays hold it, PROBLEM",
    "61,  51,  ,  ,    , standing still although relays hold it, PROBLEM",
    "61,  ,    , 2,   1, delivering a backlog, WARNING",
    "900, 895, , 2,   1, delivering a backlog, WARNING",
    ",    ,   5, 2,   1, waiting for a retry, WARNING",
    ",    ,  61, 2,   1, standing still because all keys that wait have failed, PROBLEM",
    ",    ,  -1, 2,   1, standing still because dead letters halt all keys that wait, PROBLEM",
  })
  void delivery(
      Double free,
      Double before,
      Integer blocked,
      Integer relays,
      Integer holding,
      String sentence,
      Severity severity) {
    Told store =
        new Told(
            statistics(free, blocked, relays),
            Optional.ofNullable(holding)
                .map(
                    count ->
                        count == 0
                            ? List.of()
                            : List.of(new StatisticsStore.WorkerLease("relay/0", 64, NOW, NOW))));
    Instant dueBefore =
        before == null ? null : NOW.minusSeconds(10).minusMillis((long) (before * 1_000));
    Diagnosis diagnosis = Diagnosis.since(store, 10_000, NOW, dueBefore);
    assertThat(diagnosis.delivery().sentence()).startsWith(sentence);
    assertThat(diagnosis.delivery().severity()).isEqualTo(severity);
    assertThat(diagnosis.findings()).first().isEqualTo(diagnosis.delivery());
    assertThat(diagnosis.findings()).last().extracting(Finding::what).isEqualTo("disk");
    assertThat(diagnosis.others())
        .filteredOn(one -> one.what().equals("relays"))
        .extracting(Finding::text)
        .isEqualTo(
            relays == null
                ? List.of()
                : List.of(
                    relays == 0
                        ? "no relay lives: outbox relay --config relay.properties"
                        : "2 live"));
  }

  private static StatisticsStore.Statistics statistics(
      Double free, Integer blocked, Integer relays) {
    boolean halted = blocked != null && blocked < 0;
    return new StatisticsStore.Statistics(
        10_000,
        free == null ? 0 : 1,
        0,
        blocked == null ? 0 : 3,
        0,
        blocked == null || halted ? 0 : 1,
        halted ? 1 : 0,
        free == null ? null : Duration.ofMillis((long) (free * 1_000)),
        blocked == null || halted ? null : Duration.ofSeconds(blocked),
        relays);
  }

  /** Keys of which some wait for the end of a pause, by what is claimed of a store in memory. */
  @ParameterizedTest(name = "{0} paused, {1} failed, {2} halted, after {3} s: {4}, {5}")
  @DisplayName("excuses what is paused, and nothing else")
  @CsvSource({
    "1,   0, 0, 300, nothing to do but what is paused or halted, WARNING",
    "1,   0, 1, 300, nothing to do but what is paused or halted, WARNING",
    "101, 0, 0, 300, 'nothing to do but what is paused or halted, as far as 100 keys', WARNING",
    "1,   1, 0, 30,  waiting for a retry, WARNING",
    "99,  1, 0, 300, standing still because what is not paused has failed, PROBLEM",
    "0,   0, 1, 300, standing still because dead letters halt all keys that wait, PROBLEM",
  })
  void paused(
      int paused, int failed, int halted, long seconds, String sentence, Severity severity) {
    AtomicReference<Instant> now = new AtomicReference<>(NOW);
    MemoryOutboxStore store = new MemoryOutboxStore(now::get, Duration.ofDays(1));
    store.pause("order", Who.named("ann"));
    String error = "not tried: " + store.pauses().get(0).sentence();
    append(store, "order", paused, Decision.retryUncounted(Duration.ofHours(1), error));
    now.set(NOW.plusSeconds(300 - seconds));
    append(store, "mail", failed, Decision.retry(Duration.ofHours(1), "no answer"));
    append(store, "bill", halted, Decision.deadHaltingKey("too large"));
    now.set(NOW.plusSeconds(300));
    Diagnosis diagnosis = Diagnosis.of(store, 10_000, now.get(), List.of());
    assertThat(diagnosis.delivery().sentence()).startsWith(sentence);
    assertThat(diagnosis.delivery().severity()).isEqualTo(severity);
    assertThat(diagnosis.others())
        .filteredOn(one -> one.what().equals(Diagnosis.FAILED_KEY))
        .extracting(Finding::sentence)
        .hasSize(failed)
        .allSatisfy(text -> assertThat(text).contains("as key mail/0 ", "(no answer)"));
  }

  @ParameterizedTest(name = "{0} of a pause that is over, {1} halted: {2}")
  @DisplayName(
      "says that keys have failed also behind many that are halted, but not after a resume")
  @CsvSource({
    "true,  0,  waiting for a retry",
    "false, 11, standing still because all keys that wait have failed",
  })
  void notPaused(boolean wasPaused, int halted, String sentence) {
    AtomicReference<Instant> now = new AtomicReference<>(NOW);
    MemoryOutboxStore store = new MemoryOutboxStore(now::get, Duration.ofDays(1));
    store.pause("order", Who.named("ann"));
    String error = "not tried: " + store.pauses().get(0).sentence();
    assertThat(store.resume("order", Who.named("ann"))).isTrue();
    append(store, "bill", halted, Decision.deadHaltingKey("too large"));
    append(
        store,
        "order",
        1,
        Decision.retryUncounted(Duration.ofHours(1), wasPaused ? error : "no answer"));
    now.set(NOW.plusSeconds(300));
    Finding delivery = Diagnosis.of(store, 10_000, now.get(), List.of()).delivery();
    assertThat(delivery.sentence()).startsWith(sentence);
  }

  /** Two messages of each key, of which the first is settled. */
  private static void append(MemoryOutboxStore store, String type, int keys, Decision first) {
    for (int key = 0; key < 2 * keys; key++) {
      OutboxMessage message =
          OutboxMessage.builder()
              .aggregate(type, "" + key / 2)
              .eventType("e")
              .payload("{}")
              .build();
      store.inTransaction(transaction -> store.append(transaction, List.of(message)));
    }
    Claim claim = store.claim(new Claim.Request("r", 1_000, 1_000_000, Duration.ofMinutes(1)));
    Map<Long, Decision> decisions = new HashMap<>();
    Set<String> seen = new HashSet<>();
    for (StoredMessage message : claim.messages()) {
      if (seen.add(message.key())) {
        decisions.put(message.sequence(), first);
      }
    }
    assertThat(claim.settle(decisions)).isEmpty();
  }

  @Test
  @DisplayName("of a schema says where it is, or what the store refuses; an outage is no finding")
  void schema() {
    assertThat(Diagnosis.schema((FakeSchema) () -> {}))
        .isEqualTo(Finding.fine("schema", "schema shop"));
    assertThat(Diagnosis.schema(refusing(new SchemaException("run outbox migrate", null))))
        .isEqualTo(Finding.problem("schema", "run outbox migrate", null));
    RuntimeException away = new TransientOutboxException("away");
    assertThatThrownBy(() -> Diagnosis.schema(refusing(away))).isSameAs(away);
  }

  private static FakeSchema refusing(RuntimeException refusal) {
    return () -> {
      throw refusal;
    };
  }
}
