package dev.outbox.spi.store;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Who;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store that remembers what operators have paused (F3). It hands out messages as before: relays
 * look about once a second, and publish nothing of what is paused. Where there is an audit ({@link
 * ArchiveStore#hasArchive}), each pause and resume has an entry there.
 */
public interface PauseStore {

  /**
   * Pauses an aggregate type, or everything. For what is paused already, this pause takes the place
   * of the old one.
   *
   * @param aggregateType null: all messages, whatever else is paused or resumed
   * @throws IllegalArgumentException when the type is blank or too long for one
   */
  void pause(@Nullable String aggregateType, Who by);

  /**
   * Ends a pause. Others stay.
   *
   * @param aggregateType null: the pause of all messages
   * @return false when there was no such pause
   */
  boolean resume(@Nullable String aggregateType, Who by);

  /** What is paused, in no order that means anything. */
  List<Pause> pauses();

  /**
   * A pause.
   *
   * @param aggregateType null: of all messages
   * @param since by the store's clock
   * @param who as {@link Who#name}
   * @param reason as {@link Who#reason}
   */
  record Pause(@Nullable String aggregateType, Instant since, String who, @Nullable String reason) {
    public Pause {
      requireNonNull(since, "since");
      requireNonNull(who, "who");
    }

    /** For logs and pages: {@code all messages are paused since … by … (reason)}. */
    public String sentence() {
      return "%s paused since %s by %s%s"
          .formatted(
              aggregateType == null
                  ? "all messages are"
                  : "messages of aggregate type " + aggregateType + " are",
              since,
              who,
              reason == null ? "" : " (" + reason + ")");
    }
  }

  /**
   * For stores: what the pause of a type is kept under.
   *
   * @return the type, or for null an empty text, which no type is
   * @throws IllegalArgumentException when the type is blank or too long for one
   */
  static String name(@Nullable String aggregateType) {
    if (aggregateType == null) {
      return "";
    }
    int length = aggregateType.codePointCount(0, aggregateType.length());
    if (aggregateType.isBlank() || length > OutboxMessage.MAX_TEXT) {
      throw new IllegalArgumentException(
          "the aggregate type has %s characters, 1 to %s are needed, and not only spaces"
              .formatted(length, OutboxMessage.MAX_TEXT));
    }
    return aggregateType;
  }

  /** For stores: what {@link #name} was made of. */
  static @Nullable String typeOf(String name) {
    return name.isEmpty() ? null : name;
  }
}
