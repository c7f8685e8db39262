package dev.outbox.publisher.kafka;

import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.spi.store.StoredMessage;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one key in a call. Those before {@link #next} were given to the producer. Only
 * the thread that calls publish uses a run, but for {@link Try}, which callbacks use too.
 */
final class Run extends KeyRun<Run.Item> {
  int next;
  int inFlight;

  /** The producer that the last message was given to. */
  @Nullable Connection via;

  /** Whether the open messages must be sent once more when nothing is in flight. */
  boolean again;

  /** When the wait for the next acknowledgement began. */
  long since = System.nanoTime();

  Try current = new Try();

  /**
   * One try at the key's open messages; {@link #rewind} begins the next one. A callback of an
   * earlier try does not change this one.
   */
  static final class Try {
    /**
     * The position of the last message that was, or is just being, given to the producer. The
     * calling thread writes this and then reads {@link #failed}, callbacks do the opposite: so when
     * a message fails while the next one is being sent, one of the two notices.
     */
    volatile int handedOver = -1;

    /** Whether any of them failed. */
    volatile boolean failed;
  }

  /** One message. */
  static final class Item extends KeyRun.Item {
    final Run run;
    @Nullable String topic;
    @Nullable ProducerRecord<byte[], byte[]> record;
    private @Nullable Place place;

    /** Whether it was tried again after an error that does not say whose it is. */
    boolean suspected;

    /** Whether it is sent as a batch of its own, because the one that it was in was too large. */
    boolean alone;

    private Item(Run run, int index, int position, StoredMessage message) {
      super(index, position, message);
      this.run = run;
    }

    /** Where it goes, as far as that is known. */
    Place place() {
      if (place == null && record != null) {
        place = Records.place(record);
      }
      if (place != null) {
        return place;
      }
      return Place.topic(topic == null ? message().message().aggregateType() : topic);
    }
  }

  @Override
  protected Item newItem(int index, int position, StoredMessage message) {
    return new Item(this, index, position, message);
  }

  @Override
  protected String destination(Item item) {
    return item.place().destination();
  }

  /** Begins again at the first message that is not delivered; only when nothing is in flight. */
  void rewind() {
    again = false;
    next = delivered();
    current = new Try();
  }
}
