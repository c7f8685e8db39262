package dev.outbox.dev.broker;

import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads what is in a broker, in the order of each key, through outages. Used by one thread after it
 * was made by another.
 */
public interface Source extends AutoCloseable {

  /** What is read, and who knows how far. */
  enum Reading {
    /** All that is there, from the beginning. */
    WHOLE,
    /** As a consumer that goes on from what was acknowledged last. */
    ALONE,
    /** As one of several consumers that share what is there. */
    TOGETHER
  }

  /**
   * A record of the broker.
   *
   * @param partition with its topic
   * @param id of zeros, which nobody has appended, where it has none
   */
  record Received(String partition, long offset, UUID id, String key, byte[] payload) {

    static UUID id(@Nullable String header) {
      return header == null ? new UUID(0, 0) : UUID.fromString(header);
    }
  }

  interface Sink {
    void received(Received message);

    /** All of a poll was received, and is acknowledged when this returns. */
    default void complete() throws InterruptedException {}
  }

  /** Reads what is there; waits a moment where nothing is. */
  void poll(Sink sink) throws InterruptedException;

  /** Returns what tells whether all was read that is in the broker by now. */
  BooleanSupplier end();

  /** Reads until it is ending, and then all that is in the broker by then. */
  default void read(BooleanSupplier ending, Sink sink) throws InterruptedException {
    boolean last;
    do {
      last = ending.getAsBoolean();
      BooleanSupplier end = last ? end() : () -> true;
      do {
        poll(sink);
      } while (!end.getAsBoolean());
    } while (!last);
  }

  @Override
  void close();
}
