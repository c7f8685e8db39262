package dev.outbox.cli;

import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which messages of the outbox. */
final class Filters extends MessageFilters {
  @Option(names = "--dedup-key", paramLabel = "KEY", description = "Only with this dedup key.")
  private @Nullable String dedupKey;

  @Option(
      names = "--error",
      paramLabel = "TEXT",
      description = "Only with this text in the last error.")
  private @Nullable String error;

  @Option(
      names = "--older-than",
      paramLabel = "TIME",
      description = "Only what was appended longer ago, as 10m or 7d.")
  private @Nullable Duration olderThan;

  boolean areNone() {
    return Stream.of(type, key, eventType, id, dedupKey, error, olderThan)
        .allMatch(Objects::isNull);
  }

  /** Ages are by this machine's clock. */
  Query query(@Nullable Status status, @Nullable String after, int limit) {
    if (Stream.of(type, key, eventType, dedupKey, error).anyMatch(""::equals)) {
      throw new Failure(
          "an option says which messages, and is empty: leave it out, or give a text");
    }
    Instant before = olderThan == null ? null : Instant.now().minus(olderThan);
    return new Query(status, type, key, eventType, id, dedupKey, error, before, after, limit);
  }
}
