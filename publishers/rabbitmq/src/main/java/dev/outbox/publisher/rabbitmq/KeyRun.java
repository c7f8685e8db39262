package dev.outbox.publisher.rabbitmq;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one key in a call, in order. The first {@link #delivered} of them are; those up
 * to {@link #next} were sent; from {@link #end} on they have another result. Used by the thread
 * that calls publish alone.
 */
final class KeyRun {
  final List<Item> items = new ArrayList<>();
  int delivered;
  int next;
  int end;
  int inFlight;

  /** One message. */
  static final class Item {
    final KeyRun run;
    final int position;
    final int index;
    final StoredMessage message;
    @Nullable Outgoing outgoing;

    /** Whether the broker has confirmed it; one of its key before it may still be on its way. */
    boolean confirmed;

    /** By which the broker confirms it; of the channel that it was sent on last. */
    long tag;

    /** Whether nothing else is sent until its result is known, because it may close the channel. */
    boolean alone;

    private Item(KeyRun run, int position, int index, StoredMessage message) {
      this.run = run;
      this.position = position;
      this.index = index;
      this.message = message;
    }

    /** Where it goes; only when it was made. */
    Place to() {
      return requireNonNull(outgoing).place();
    }

    boolean isOpen() {
      return position < run.end && position >= run.delivered;
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

  /** The first one that is neither on its way nor confirmed. */
  @Nullable Item nextToSend() {
    while (next < end && items.get(next).confirmed) {
      next++;
    }
    return next < end ? items.get(next) : null;
  }

  /** Begins again at the first message that is not delivered. */
  void rewind() {
    next = delivered;
    inFlight = 0;
  }
}
