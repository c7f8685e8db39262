package dev.outbox.publisher.rabbitmq;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.KeyRun;
import dev.outbox.spi.store.StoredMessage;
import org.jspecify.annotations.Nullable;

/** The messages of one key in a call. Used by the thread that calls publish alone. */
final class Run extends KeyRun<Run.Item> {
  /** Whether the first one that is not delivered is on its way. */
  boolean inFlight;

  /** One message. */
  static final class Item extends KeyRun.Item {
    final Run run;
    Mapping.@Nullable Outgoing outgoing;

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

  /** The one whose turn it is; null while one is on its way. */
  @Nullable Item nextToSend() {
    return isOpen() && !inFlight ? item(delivered()) : null;
  }
}
