package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.Archive;
import dev.outbox.Texts;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a store keeps of what has happened, and for how long.
 *
 * @param dedupWindow how long a dedup key is remembered; at least 1 ms
 * @param archive what is kept of messages that leave
 * @param archived how long they are kept; at least 1 ms
 * @param deadLetters how long dead letters are kept that halt no key; at least 1 ms, or null: until
 *     somebody decides
 */
public record Retention(
    Duration dedupWindow, Archive archive, Duration archived, @Nullable Duration deadLetters) {

  /** How long what is archived is kept, unless told otherwise. */
  public static final Duration DEFAULT_ARCHIVED = Duration.ofDays(30);

  /**
   * @throws IllegalArgumentException when a time is less than 1 ms
   */
  public Retention {
    check("dedupWindow", dedupWindow);
    requireNonNull(archive, "archive");
    check("archiveRetention", archived);
    if (deadLetters != null) {
      check("deadLetterRetention", deadLetters);
    }
  }

  /** Without an archive; dead letters are kept until somebody decides. */
  public static Retention of(Duration dedupWindow) {
    return new Retention(dedupWindow, Archive.NONE, DEFAULT_ARCHIVED, null);
  }

  private static void check(String name, Duration value) {
    if (value.toMillis() < 1) {
      throw new IllegalArgumentException(
          name + " is " + Texts.time(value) + ", at least 1 ms is needed");
    }
  }
}
