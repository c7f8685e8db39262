package dev.outbox.publisher.kafka;

import dev.outbox.spi.StoredMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one key in a call, in order. The first {@link #delivered} of them are; those up
 * to {@link #next} were given to the producer; from {@link #end} on they have another result. All
 * of it belongs to the thread that calls publish, but for two fields.
 */
final class KeyRun {
  final List<Item> items = new ArrayList<>();
  int delivered;
  int next;
  int end;
  int inFlight;

  /** Whether what is not delivered must be sent once more, when nothing is in flight. */
  boolean again;

  /** When it began to wait for what it waits for. */
  long since = System.nanoTime();

  /**
   * The position of the last message that was, or is just being, given to the producer. The calling
   * thread writes this and then reads {@link #failed}, callbacks do the opposite: so when a message
   * fails while the next one is being sent, one of the two notices.
   */
  volatile int handedOver = -1;

  /** Whether any of them failed since the last {@link #rewind}. */
  volatile boolean failed;

  /** One message on its way. */
  static final class Item {
    final KeyRun run;
    final int position;
    final int index;
    final StoredMessage message;
    @Nullable ProducerRecord<byte[], byte[]> record;

    /** Whether it was tried again after an error that does not say whose it is. */
    boolean suspected;

    /** Set by whoever comes first: the callback, or the call that gives up. */
    AtomicBoolean ended = new AtomicBoolean();

    private Item(KeyRun run, int position, int index, StoredMessage message) {
      this.run = run;
      this.position = position;
      this.index = index;
      this.message = message;
    }

    String topic() {
      return record == null ? message.message().aggregateType() : record.topic();
    }
  }

  /**
   * @param index of the message in the call
   */
  void add(int index, StoredMessage message) {
    items.add(new Item(this, items.size(), index, message));
    end = items.size();
  }

  /** Begins again at the first message that is not delivered; only when nothing is in flight. */
  void rewind() {
    again = false;
    failed = false;
    next = delivered;
    handedOver = delivered - 1;
  }
}
