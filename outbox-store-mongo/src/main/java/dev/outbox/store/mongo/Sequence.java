package dev.outbox.store.mongo;

import java.time.Instant;
import org.bson.BsonTimestamp;

/**
 * A message's sequence: the timestamp that the server gave it at insert. As a number it counts from
 * 2020, so that it stays positive until 2088.
 */
final class Sequence {
  private static final long EPOCH = Instant.parse("2020-01-01T00:00:00Z").getEpochSecond() << 32;

  private Sequence() {}

  static long of(BsonTimestamp timestamp) {
    return timestamp.getValue() - EPOCH;
  }

  static BsonTimestamp timestamp(long sequence) {
    return new BsonTimestamp(sequence + EPOCH);
  }

  /** For a question after a sequence; 0: after none. */
  static BsonTimestamp after(long sequence) {
    return sequence == 0 ? new BsonTimestamp() : timestamp(sequence);
  }

  /** To the second: all that a timestamp says of the time. */
  static Instant time(long sequence) {
    return Instant.ofEpochSecond(Integer.toUnsignedLong(timestamp(sequence).getTime()));
  }
}
