package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A message of a story, and what has become of it. */
final class StoryMessage {
  final int number;
  final OutboxMessage content;
  boolean committed;

  /** In the order of all: that of appends, or where sequences come with the commit, of commits. */
  int place;

  /** 0 until it is known. */
  long sequence;

  /** It was delayed, requeued or committed late: it may come before its place, and after it. */
  boolean passable;

  /** When its retry is due, null when it waits for none. */
  @Nullable Instant retryAt;

  /** A dead letter that halts its key. */
  boolean blocks;

  /** Attempts that the store counted at claims which were lost (S6), and how many it may. */
  int counted;

  int mayCount;

  StoryMessage(int number, OutboxMessage content) {
    this.number = number;
    this.content = content;
    place = number;
  }

  @Override
  public String toString() {
    return String.valueOf(number);
  }
}
