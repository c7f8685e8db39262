package dev.outbox.store.mongo;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The server's clock. An insert cannot ask for it, so that it is read beforehand, together with the
 * schema's version, and not for each append: what passes in between is counted here.
 */
final class ServerClock {
  private static final long KEPT = Duration.ofSeconds(10).toNanos();

  private final Schema schema;
  private volatile @Nullable Reading last;

  ServerClock(Schema schema) {
    this.schema = schema;
  }

  private record Reading(Instant time, long at) {
    Instant now(long nanos) {
      return time.plusNanos(nanos - at);
    }
  }

  /** To about the time of a round trip, unless the server's clock was set in the last seconds. */
  Instant now() {
    Reading reading = last;
    long nanos = System.nanoTime();
    return reading != null && nanos - reading.at() < KEPT ? reading.now(nanos) : read();
  }

  /**
   * Makes sure that the schema is there.
   *
   * @throws dev.outbox.SchemaException when it is missing or of another version
   */
  void check() {
    Instant unused = read();
  }

  /**
   * What it says now.
   *
   * @throws dev.outbox.SchemaException when the schema is missing or of another version
   */
  Instant read() {
    last = null;
    Reading reading = new Reading(schema.now(), System.nanoTime());
    last = reading;
    return reading.time();
  }
}
