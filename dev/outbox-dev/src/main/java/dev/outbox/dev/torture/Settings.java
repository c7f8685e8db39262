package dev.outbox.dev.torture;

import dev.outbox.Archive;
import dev.outbox.dev.StoreKind;
import dev.outbox.dev.broker.BrokerKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A run.
 *
 * @param database one of {@link #databases()}
 * @param broker one of {@link #brokers()}
 * @param time how long faults happen; what comes before and after takes longer
 * @param seed of all that is random in the plan and in the processes
 * @param faultsPerMinute on average
 * @param archive what the outbox keeps of messages that leave it
 * @param history an empty directory for what happened
 */
public record Settings(
    StoreKind database,
    BrokerKind broker,
    Duration time,
    long seed,
    double faultsPerMinute,
    Archive archive,
    Path history) {
  public static final Duration DEFAULT_TIME = Duration.ofMinutes(3);
  public static final double DEFAULT_FAULTS_PER_MINUTE = 40;

  /** Which databases can be tortured: postgres and others. */
  public static List<StoreKind> databases() {
    return Stream.concat(Dialect.ALL.stream().map(Dialect::kind), Stream.of(StoreKind.REDIS))
        .toList();
  }

  /** Whether an outbox in one of them can keep an archive. */
  public static boolean keepsArchive(StoreKind database) {
    return database != StoreKind.REDIS;
  }

  /** Which brokers can be tortured. */
  public static List<BrokerKind> brokers() {
    return List.of(BrokerKind.KAFKA, BrokerKind.RABBITMQ);
  }
}
