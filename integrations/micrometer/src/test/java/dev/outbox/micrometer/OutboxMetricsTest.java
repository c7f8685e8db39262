package dev.outbox.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayEvent.DeadLetterReason;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StoredMessage;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OutboxMetricsTest {
  private static final Statistics SOME =
      new Statistics(10_000, 1, 2, 3, 4, 5, 6, Duration.ofMillis(7_500), Duration.ofSeconds(8), 7);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final AtomicLong nanos = new AtomicLong();
  private final Store store = new Store();
  private final OutboxMetrics metrics = bound(OutboxMetrics.builder(store));

  /** Says what it is told to, and counts how often it is asked. */
  private static final class Store implements StatisticsStore {
    private final AtomicInteger asked = new AtomicInteger();
    private volatile boolean fails;
    private volatile Statistics said = SOME;

    @Override
    public Statistics statistics(int cap) {
      asked.incrementAndGet();
      if (fails) {
        throw new IllegalStateException("the database is away");
      }
      return said;
    }

    void awaitAskedAgain() {
      int before = asked.get();
      await().until(() -> asked.get() >= before + 2); // the one under way may be older
    }
  }

  private OutboxMetrics bound(OutboxMetrics.Builder builder) {
    OutboxMetrics made = builder.interval(Duration.ofMillis(100)).build(nanos::get);
    made.bindTo(registry);
    return made;
  }

  @AfterEach
  void close() {
    metrics.close();
  }

  private static StoredMessage message(String type, Instant createdAt) {
    return StoredMessage.of(
        1,
        0,
        createdAt,
        OutboxMessage.builder().aggregate(type, "1").eventType("e").payload("{}").build());
  }

  private static StoredMessage message() {
    return message("order", Instant.now());
  }

  private double count(String name, String... tags) {
    return registry.get(name).tags(tags).counter().count();
  }

  private double gauge(String name, String... tags) {
    return registry.get(name).tags(tags).gauge().value();
  }

  @Test
  void eachEventIsCounted() {
    List<StoredMessage> two = List.of(message(), message());
    metrics.on(new RelayEvent.Claimed("r/0", two, Duration.ofMillis(20)));
    metrics.on(new RelayEvent.Published("r/0", two, Duration.ofMillis(30)));
    metrics.on(new RelayEvent.Delivered("r/0", message()));
    metrics.on(new RelayEvent.Expired("r/0", message()));
    metrics.on(
        new RelayEvent.Retried("r/0", message(), Decision.retry(Duration.ofSeconds(1), "x")));
    metrics.on(new RelayEvent.Unavailable("r/0", message(), new Result.Unavailable("x", "topic")));
    for (String destination : Arrays.asList("the limit of invoice", null)) {
      metrics.on(
          new RelayEvent.Postponed(
              "r/0", message(), new Result.Unavailable("x", destination, Duration.ofSeconds(1))));
    }
    metrics.on(
        new RelayEvent.DeadLettered(
            "r/0", message(), Decision.dead("x"), DeadLetterReason.REJECTED));
    metrics.on(new RelayEvent.LeaseLost("r/0", two));
    metrics.on(new RelayEvent.Abandoned("r/0", two, "x"));
    metrics.on(new RelayEvent.PublisherBroken("r/0", "x", null));
    metrics.on(new RelayEvent.StoreFailed("r/0", "settle", new IllegalStateException()));
    metrics.on(new RelayEvent.StoreFailed("r/0", "a new one", new IllegalStateException()));
    metrics.on(new RelayEvent.StoreRecovered("r/0"));
    assertThat(registry.get("outbox.claim").timer().totalTime(TimeUnit.MILLISECONDS)).isEqualTo(20);
    assertThat(registry.get("outbox.claim.messages").summary().totalAmount()).isEqualTo(2);
    assertThat(registry.get("outbox.publish").timer().totalTime(TimeUnit.MILLISECONDS))
        .isEqualTo(30);
    assertThat(count("outbox.delivered", "aggregate.type", "order")).isEqualTo(1);
    assertThat(count("outbox.expired")).isEqualTo(1);
    assertThat(count("outbox.retried")).isEqualTo(1);
    assertThat(count("outbox.unavailable")).isEqualTo(1);
    assertThat(count("outbox.postponed", "destination", "the limit of invoice")).isEqualTo(1);
    assertThat(count("outbox.postponed", "destination", "")).isEqualTo(1);
    assertThat(count("outbox.deadlettered", "reason", "rejected")).isEqualTo(1);
    assertThat(count("outbox.lease.lost")).isEqualTo(2);
    assertThat(count("outbox.claim.abandoned")).isEqualTo(1);
    assertThat(count("outbox.publisher.broken")).isEqualTo(1);
    assertThat(count("outbox.store.failures", "operation", "settle")).isEqualTo(1);
    assertThat(count("outbox.store.failures", "operation", "a new one")).isEqualTo(1);
  }

  @Test
  void whatNeverHappenedIsThereAndZero() {
    for (String reason : List.of("rejected", "exhausted", "undecodable")) {
      assertThat(count("outbox.deadlettered", "reason", reason)).isZero();
    }
    for (String operation :
        List.of("claim", "settle", "renew", "let go", "housekeep", "hold", "work")) {
      assertThat(count("outbox.store.failures", "operation", operation)).isZero();
    }
    assertThat(count("outbox.delivered", "aggregate.type", CountersByTag.OTHERS)).isZero();
    assertThat(count("outbox.postponed", "destination", CountersByTag.OTHERS)).isZero();
    assertThat(gauge("outbox.breaker.open")).isZero();
  }

  @Test
  void aggregateTypesHaveALimit() {
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 130; i++) {
        metrics.on(new RelayEvent.Delivered("r/0", message("type" + i, Instant.now())));
      }
    }
    assertThat(registry.find("outbox.delivered").counters())
        .hasSize(CountersByTag.MOST + 1)
        .allMatch(
            counter ->
                counter.count()
                    == (counter.getId().getTag("aggregate.type").equals(CountersByTag.OTHERS)
                        ? 60
                        : 2));
  }

  @Test
  void theLagCountsFromWhenAMessageWasDueAndIsNeverNegative() {
    Timer lag = registry.get("outbox.delivery.lag").timer();
    metrics.on(new RelayEvent.Delivered("r/0", message("order", Instant.now().plusSeconds(3_600))));
    assertThat(lag.count()).isEqualTo(1);
    assertThat(lag.totalTime(TimeUnit.SECONDS)).isZero();
    metrics.on(
        new RelayEvent.Delivered("r/0", message("order", Instant.now().minusSeconds(1_000))));
    assertThat(lag.totalTime(TimeUnit.SECONDS)).isBetween(1_000.0, 1_999.0);
    StoredMessage delayed =
        StoredMessage.of(
            1,
            0,
            Instant.now().minusSeconds(500_000),
            OutboxMessage.builder()
                .aggregate("order", "1")
                .eventType("e")
                .payload("{}")
                .availableAt(Instant.now().minusSeconds(2_000))
                .build());
    metrics.on(new RelayEvent.Delivered("r/0", delayed));
    assertThat(lag.totalTime(TimeUnit.SECONDS)).isBetween(3_000.0, 3_999.0);
    assertThat(lag.takeSnapshot().histogramCounts()).hasSizeGreaterThan(10);
  }

  @Test
  void theBreakerIsOpenWhileThatOfAnyRelayIs() {
    metrics.on(new RelayEvent.BreakerOpened("r", "down"));
    metrics.on(new RelayEvent.BreakerOpened("s", "down"));
    metrics.on(new RelayEvent.BreakerClosed("r"));
    assertThat(gauge("outbox.breaker.open")).isEqualTo(1);
    metrics.on(new RelayEvent.Stopped("s", 0));
    assertThat(gauge("outbox.breaker.open")).isZero();
  }

  @Test
  void theGaugesAreWhatWasRead() {
    await().until(() -> gauge("outbox.messages", "status", "pending") == 1);
    assertThat(gauge("outbox.messages", "status", "scheduled")).isEqualTo(2);
    assertThat(gauge("outbox.messages", "status", "blocked")).isEqualTo(3);
    assertThat(gauge("outbox.messages", "status", "dead")).isEqualTo(4);
    assertThat(gauge("outbox.keys", "state", "retrying")).isEqualTo(5);
    assertThat(gauge("outbox.keys", "state", "halted")).isEqualTo(6);
    assertThat(gauge("outbox.oldest.age", "state", "free")).isEqualTo(7.5);
    assertThat(gauge("outbox.oldest.age", "state", "blocked")).isEqualTo(8);
    assertThat(gauge("outbox.relays")).isEqualTo(7);
    store.said = new Statistics(1, 0, 0, 0, 0, 0, 0, null, null, null);
    await().until(() -> gauge("outbox.oldest.age", "state", "free") == 0);
    assertThat(gauge("outbox.relays")).as("of a store that sees none").isNaN();
  }

  @Test
  void whatCannotBeReadIsNotZero() {
    await().until(() -> gauge("outbox.messages", "status", "pending") == 1);
    store.fails = true;
    store.awaitAskedAgain();
    await().until(() -> Double.isNaN(gauge("outbox.messages", "status", "pending")));
    assertThat(metrics.lastReading()).isEmpty();
    for (Meter meter : registry.getMeters()) {
      String name = meter.getId().getName();
      if (List.of("outbox.messages", "outbox.keys", "outbox.oldest.age").contains(name)) {
        assertThat(meter.measure()).allMatch(measured -> Double.isNaN(measured.getValue()));
      }
    }
    nanos.addAndGet(Duration.ofSeconds(130).toNanos());
    assertThat(gauge("outbox.reading.age")).isCloseTo(130, within(1e-6));
    assertThat(metrics.readingAge()).isEqualTo(Duration.ofSeconds(130));
    store.fails = false;
    await().until(() -> gauge("outbox.messages", "status", "pending") == 1);
    assertThat(gauge("outbox.reading.age")).isZero();
    assertThat(metrics.lastReading()).contains(store.said);
  }

  @Test
  void metersThatAreInNoRegistryHaveAnAge() {
    nanos.set(Duration.ofDays(1).toNanos());
    try (OutboxMetrics other = OutboxMetrics.builder(store).build(nanos::get)) {
      nanos.addAndGet(Duration.ofSeconds(20).toNanos());
      assertThat(other.readingAge()).isEqualTo(Duration.ofSeconds(20));
      assertThat(other.lastReading()).isEmpty();
    }
  }

  @Test
  void aScrapeReadsNothingAndTheStartOfARelayDoes() {
    AtomicInteger asked = new AtomicInteger();
    StatisticsStore counting =
        cap -> {
          asked.incrementAndGet();
          return SOME;
        };
    try (OutboxMetrics other =
        OutboxMetrics.builder(counting)
            .tags(Tags.of("db", "calm"))
            .interval(Duration.ofDays(1))
            .build()) {
      other.bindTo(registry);
      await().until(() -> gauge("outbox.keys", "state", "halted", "db", "calm") == 6);
      for (int i = 0; i < 100; i++) {
        registry.getMeters().forEach(Meter::measure);
      }
      assertThat(asked).hasValue(1);
      other.on(new RelayEvent.Started("r", 1, null));
      await().until(() -> asked.get() == 2);
    }
  }

  @Test
  @Timeout(30)
  void aStoreThatHangsHoldsUpNeitherTheGaugesNorTheEnd() throws InterruptedException {
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    StatisticsStore hanging =
        cap -> {
          if (asked.incrementAndGet() > 1) {
            hangs.countDown();
            awaitWithoutHeedingInterrupts(released);
          }
          return SOME;
        };
    OutboxMetrics other = bound(OutboxMetrics.builder(hanging).tags(Tags.of("db", "hangs")));
    assertThat(hangs.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(gauge("outbox.keys", "state", "halted", "db", "hangs")).isEqualTo(6);
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(gauge("outbox.keys", "state", "halted", "db", "hangs")).as("an old reading").isNaN();
    assertThat(other.lastReading()).isEmpty();
    other.close(); // returns, or the test's time is over
    assertThat(registry.find("outbox.keys").tag("db", "hangs").gauges()).isEmpty();
    released.countDown();
  }

  private static void awaitWithoutHeedingInterrupts(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // As a driver that reads from a socket.
      }
    }
  }

  @Test
  void closeEndsTheThread() {
    await().until(() -> threads() == 1);
    metrics.close();
    await().until(() -> threads() == 0); // an executor has ended before its thread is gone
    metrics.close();
    assertThatThrownBy(() -> metrics.bindTo(registry))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("outbox-metrics") && thread.isAlive())
        .count();
  }

  @Test
  void anotherMayFollowInTheSameRegistry() {
    metrics.on(new RelayEvent.Delivered("r/0", message()));
    metrics.close();
    assertThat(registry.find("outbox.messages").gauges()).isEmpty();
    Store second = new Store();
    second.said = new Statistics(10_000, 70, 0, 0, 0, 0, 0, null, null, null);
    try (OutboxMetrics next = bound(OutboxMetrics.builder(second))) {
      await().until(() -> gauge("outbox.messages", "status", "pending") == 70);
      next.on(new RelayEvent.Delivered("r/0", message()));
      assertThat(count("outbox.delivered", "aggregate.type", "order")).isEqualTo(2);
    }
  }

  @Test
  void tagsAreTheUsers() {
    SimpleMeterRegistry own = new SimpleMeterRegistry();
    try (OutboxMetrics shop = OutboxMetrics.builder(store).tags(Tags.of("db", "a")).build()) {
      shop.bindTo(own);
      shop.on(new RelayEvent.Delivered("r/0", message()));
      assertThat(own.get("outbox.delivered").tag("aggregate.type", "order").counter().count())
          .isEqualTo(1);
      assertThat(own.getMeters())
          .hasSizeGreaterThan(20)
          .allMatch(meter -> "a".equals(meter.getId().getTag("db")));
    }
  }

  @Test
  void whatCannotBeIsRefused() {
    OutboxMetrics.Builder builder = OutboxMetrics.builder(store);
    assertThatThrownBy(() -> builder.interval(Duration.ofMillis(99)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("99ms")
        .hasMessageContaining("100ms");
    assertThatThrownBy(() -> builder.cap(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cap is 0");
  }
}
