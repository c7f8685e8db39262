package dev.outbox.tck.store;

import static dev.outbox.tck.store.StoryLog.mustBe;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoredMessage;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The messages of a story, by their ids. */
final class StoryMessages {
  private final Map<UUID, StoryMessage> all = new LinkedHashMap<>();

  /** Of the next message. */
  int number() {
    return all.size() + 1;
  }

  int size() {
    return all.size();
  }

  StoryMessage of(StoredMessage stored) {
    return requireNonNull(all.get(StoreTests.id(stored)));
  }

  List<StoryMessage> of(List<StoredMessage> stored) {
    return stored.stream().map(this::of).toList();
  }

  Stream<StoryMessage> stream() {
    return all.values().stream();
  }

  /** All that have the key of this one, but this one. */
  Stream<StoryMessage> besides(StoryMessage message) {
    return stream().filter(m -> m != message && m.content.key().equals(message.content.key()));
  }

  StoryMessage add(OutboxMessage content) {
    StoryMessage message = new StoryMessage(all.size() + 1, content);
    message.passable = content.deliverAfter() != null;
    all.put(content.id(), message);
    return message;
  }

  static String described(StoryMessage message) {
    OutboxMessage m = message.content;
    return "%s (%s%s%s)"
        .formatted(
            message.number,
            m.key().equals(m.id().toString()) ? "unordered" : "key " + StoreTests.shown(m.key()),
            m.deliverAfter() != null ? ", due in 1 h" : "",
            m.dedupKey() != null ? ", dedup key" : "");
  }

  StoryMessage known(StoredMessage brought) {
    mustBe("A3", brought.problem() == null, "the store cannot decode %s", brought);
    StoryMessage message = all.get(brought.message().id());
    mustBe("A1", message != null, "nobody appended %s", brought);
    OutboxMessage content = requireNonNull(message).content;
    mustBe("A1", message.committed, "message %s comes though it is not committed", message);
    mustBe(
        "A3",
        brought.key().equals(content.key())
            && Arrays.equals(brought.message().payload(), content.payload())
            && Objects.equals(brought.message().dedupKey(), content.dedupKey()),
        "message %s does not come as it was appended: %s",
        message,
        brought);
    mustBe(
        "S2",
        message.sequence == 0 || message.sequence == brought.sequence(),
        "message %s has another sequence: it was %s and is %s",
        message,
        message.sequence,
        brought.sequence());
    message.sequence = brought.sequence();
    return message;
  }

  boolean anotherHoldsBack(StoryMessage message) {
    return besides(message).anyMatch(m -> m.retryAt != null || m.blocks);
  }

  /** A message of a story, and what has become of it. */
  static final class StoryMessage {
    final int number;
    final OutboxMessage content;
    boolean committed;

    /**
     * In the order of all: that of appends, or where sequences come with the commit, of commits.
     */
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
}
