package dev.outbox.publisher.kafka;

import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one key in a call, in order. The first {@link #delivered} of them are; those up
 * to {@link #next} were given to the producer; from {@link #end} on they have another result. All
 * of it belongs to the thread that calls publish, but for what is in {@link Try}.
 */
final class KeyRun {
  final List<Item> items = new ArrayList<>();
  int delivered;
  int next;
  int end;
  int inFlight;

  /** What the last message given to a producer was given to. */
  @Nullable Connection via;

  /** Whether what is not delivered must be sent once more, when nothing is in flight. */
  boolean again;

  /** When it began to wait for what it waits for. */
  long since = System.nanoTime();

  Try current = new Try();

  /**
   * What is known of the key since it was begun, or begun again. A callback of an earlier try has
   * no say in this one.
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
  static final class Item {
    final KeyRun run;
    final int position;
    final int index;
    final StoredMessage message;
    @Nullable String topic;
    @Nullable ProducerRecord<byte[], byte[]> record;
    private @Nullable Place place;

    /** Whether it was tried again after an error that does not say whose it is. */
    boolean suspected;

    /** Whether it is sent as a batch of its own, because the one that it was in was too large. */
    boolean alone;

    private Item(KeyRun run, int position, int index, StoredMessage message) {
      this.run = run;
      this.position = position;
      this.index = index;
      this.message = message;
    }

    /** Where it goes, as far as that is known. */
    Place place() {
      if (place == null && record != null) {
        place = Records.place(record);
      }
      if (place != null) {
        return place;
      }
      return Place.topic(topic == null ? message.message().aggregateType() : topic);
    }
  }

  /** The messages of a call, by key. */
  static List<KeyRun> of(List<StoredMessage> messages) {
    Map<String, KeyRun> byKey = new LinkedHashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      byKey.computeIfAbsent(messages.get(i).key(), key -> new KeyRun()).add(i, messages.get(i));
    }
    return List.copyOf(byKey.values());
  }

  private void add(int index, StoredMessage message) {
    items.add(new Item(this, items.size(), index, message));
    end = items.size();
  }

  boolean isOpen() {
    return delivered < end;
  }

  /** Begins again at the first message that is not delivered; only when nothing is in flight. */
  void rewind() {
    again = false;
    next = delivered;
    current = new Try();
  }
}
