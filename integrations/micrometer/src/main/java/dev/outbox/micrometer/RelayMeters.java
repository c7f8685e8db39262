package dev.outbox.micrometer;

import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayEvent.DeadLetterReason;
import dev.outbox.spi.store.StoredMessage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The counters and timers of one registry. Those whose tags are known exist from the beginning,
 * because an increase shows only where there was a number before.
 */
final class RelayMeters {
  private static final List<String> OPERATIONS =
      List.of("claim", "settle", "renew", "let go", "housekeep", "hold", "work", "pauses");

  private static final Duration[] LAGS =
      Stream.of(
              5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
              900_000, 3_600_000)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final Tags tags;
  private final CountersByTag delivered;
  private final CountersByTag postponed;
  private final Timer lag;
  private final Timer publish;
  private final Timer claim;
  private final DistributionSummary claimMessages;
  private final Counter expired;
  private final Counter retried;
  private final Counter unavailable;
  private final Counter leaseLost;
  private final Counter abandoned;
  private final Counter publisherBroken;

  RelayMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
    delivered =
        new CountersByTag(
            type -> counter("delivered", "Messages that were delivered", "aggregate.type", type));
    postponed =
        new CountersByTag(
            destination ->
                counter(
                    "postponed",
                    "Messages that wait because their destination is slow or over its limit",
                    "destination",
                    destination));
    lag =
        timer("delivery.lag", "From when a message was due until the store knew it was delivered")
            .serviceLevelObjectives(LAGS)
            .register(registry);
    publish = timer("publish", "Calls of the publisher").register(registry);
    claim = timer("claim", "Claims that brought messages").register(registry);
    claimMessages =
        DistributionSummary.builder("outbox.claim.messages")
            .description("Messages that a claim brought")
            .tags(tags)
            .register(registry);
    expired = counter("expired", "Messages that left unpublished, because their time was over");
    retried = counter("retried", "Messages that will be tried again");
    unavailable = counter("unavailable", "Messages whose broker or topic could not be reached");
    leaseLost = counter("lease.lost", "Messages whose lease was lost before they were settled");
    abandoned = counter("claim.abandoned", "Claims that were left to their lease");
    publisherBroken = counter("publisher.broken", "How often the publisher broke its contract");
    Stream.of(DeadLetterReason.values()).forEach(this::deadLettered);
    OPERATIONS.forEach(this::storeFailures);
  }

  private Timer.Builder timer(String name, String description) {
    return Timer.builder("outbox." + name).description(description).tags(tags);
  }

  private Counter counter(String name, String description, String... more) {
    return Counter.builder("outbox." + name)
        .description(description)
        .tags(tags)
        .tags(more)
        .register(registry);
  }

  private Counter deadLettered(DeadLetterReason reason) {
    return counter(
        "deadlettered",
        "Messages that became dead letters",
        "reason",
        reason.name().toLowerCase(Locale.ROOT));
  }

  private Counter storeFailures(String operation) {
    return counter("store.failures", "How often the store threw", "operation", operation);
  }

  void on(RelayEvent event) {
    if (event instanceof RelayEvent.Delivered e) {
      delivered(e.message());
    } else if (event instanceof RelayEvent.Claimed e) {
      claim.record(e.took());
      claimMessages.record(e.messages().size());
    } else if (event instanceof RelayEvent.Published e) {
      publish.record(e.took());
    } else if (event instanceof RelayEvent.Expired) {
      expired.increment();
    } else if (event instanceof RelayEvent.Retried) {
      retried.increment();
    } else if (event instanceof RelayEvent.Unavailable) {
      unavailable.increment();
    } else if (event instanceof RelayEvent.Postponed e) {
      String destination = e.result().destination();
      postponed.of(destination == null ? "" : destination).increment();
    } else if (event instanceof RelayEvent.DeadLettered e) {
      deadLettered(e.reason()).increment();
    } else if (event instanceof RelayEvent.LeaseLost e) {
      leaseLost.increment(e.messages().size());
    } else if (event instanceof RelayEvent.Abandoned) {
      abandoned.increment();
    } else if (event instanceof RelayEvent.PublisherBroken) {
      publisherBroken.increment();
    } else if (event instanceof RelayEvent.StoreFailed e) {
      storeFailures(e.operation()).increment();
    }
  }

  private void delivered(StoredMessage message) {
    delivered.of(message.message().aggregateType()).increment();
    Duration since = Duration.between(dueAt(message), Instant.now());
    lag.record(since.isNegative() ? Duration.ZERO : since); // the database has another clock
  }

  private static Instant dueAt(StoredMessage message) {
    @Nullable Instant availableAt = message.message().availableAt();
    return availableAt == null || availableAt.isBefore(message.createdAt())
        ? message.createdAt()
        : availableAt;
  }
}
