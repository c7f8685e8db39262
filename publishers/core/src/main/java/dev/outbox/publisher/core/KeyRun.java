package dev.outbox.publisher.core;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages of one key in a call, in order. The first {@link #delivered} of them are; from
 * {@link #end} on they have another result. A publisher adds what it has to know of a key on its
 * way.
 *
 * @param <I> one message, and what the publisher has to know of it
 */
public abstract class KeyRun<I extends KeyRun.Item> {
  private final List<I> items = new ArrayList<>();
  private int delivered;
  private int end;

  /** One message of a call. */
  public static class Item {
    private final int index;
    private final int position;
    private final StoredMessage message;

    /**
     * @param index in the call
     * @param position in the key's run
     */
    public Item(int index, int position, StoredMessage message) {
      this.index = index;
      this.position = position;
      this.message = message;
    }

    /** Its place in the call. */
    public final int index() {
      return index;
    }

    /** Its place among those of its key. */
    public final int position() {
      return position;
    }

    public final StoredMessage message() {
      return message;
    }
  }

  /** Makes the item of a message; with the parameters of {@link Item}. */
  protected abstract I newItem(int index, int position, StoredMessage message);

  /** Where a message was to go, as far as that is known; the results of those behind it name it. */
  protected String destination(I item) {
    return item.message().message().aggregateType();
  }

  final void add(int index, StoredMessage message) {
    items.add(newItem(index, end++, message));
  }

  /** The next message is delivered. */
  final void deliver(Result result, Result[] results) {
    results[item(delivered++).index()] = result;
  }

  /**
   * Decides a message that was not delivered, and with it those behind it (P2).
   *
   * @return how many
   */
  final int decide(int from, Result result, Result[] results) {
    int decided = 0;
    for (int i = from; i < end; i++, decided++) {
      I culprit = item(from);
      results[item(i).index()] =
          i == from ? result : Result.notSent(culprit.message(), result, destination(culprit));
    }
    end = Math.min(from, end);
    return decided;
  }

  /** How many are delivered. */
  public final int delivered() {
    return delivered;
  }

  /**
   * The position of the first message that was decided and not delivered; or how many there are.
   */
  public final int end() {
    return end;
  }

  /** Whether a message has no result yet. */
  public final boolean isOpen() {
    return delivered < end;
  }

  public final I item(int position) {
    return items.get(position);
  }
}
