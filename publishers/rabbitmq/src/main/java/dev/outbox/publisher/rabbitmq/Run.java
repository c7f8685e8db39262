package dev.outbox.publisher.rabbitmq;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.KeyRun;
import dev.outbox.spi.store.StoredMessage;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one key in a call. Those up to {@link #next} were sent. Used by the thread that
 * calls publish alone.
 */
final class Run extends KeyRun<Run.Item> {
  int next;
  int inFlight;

  /** One message. */
  static final class Item extends KeyRun.Item {
    final Run run;
    Mapping.@Nullable Outgoing outgoing;

    /** Whether the broker has confirmed it; one of its key before it may still be on its way. */
    boolean confirmed;

    /** By which the broker confirms it; of the channel that it was sent on last. */
    long tag;

    /** Whether nothing else is sent until its result is known, because it may close the channel. */
    boolean alone;

    private Item(Run run, int index, int position, StoredMessage message) {
      super(index, position, message);
      this.run = run;
    }

    /** Where it goes; only when it was made. */
    Place to() {
      return requireNonNull(outgoing).place();
    }

    boolean isOpen() {
      return position() < run.end() && position() >= run.delivered();
    }
  }

  @Override
  protected Item newItem(int index, int position, StoredMessage message) {
    return new Item(this, index, position, message);
  }

  @Override
  protected String destination(Item item) {
    return item.outgoing == null ? super.destination(item) : item.to().name();
  }

  /** The first one that is neither on its way nor confirmed. */
  @Nullable Item nextToSend() {
    while (next < end() && item(next).confirmed) {
      next++;
    }
    return next < end() ? item(next) : null;
  }

  /** Begins again at the first message that is not delivered. */
  void rewind() {
    next = delivered();
    inFlight = 0;
  }
}
