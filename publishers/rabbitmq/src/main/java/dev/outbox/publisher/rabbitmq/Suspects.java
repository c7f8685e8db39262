package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.AMQP;
import dev.outbox.publisher.rabbitmq.Run.Item;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The messages of which one may have closed the channel. They are sent alone. What the broker finds
 * wrong with a message is mostly its size. So the largest goes first, and when the broker takes it
 * the others are acquitted, unless they were acquitted once before.
 */
final class Suspects {
  private final Set<Item> items = new LinkedHashSet<>();
  private boolean bySize;
  private boolean found;
  private boolean sizeWasWrong;

  boolean isEmpty() {
    return items.isEmpty();
  }

  void add(Item item) {
    items.add(item);
  }

  void begin(int code, Collection<Item> all) {
    found = false;
    bySize = code == AMQP.PRECONDITION_FAILED && !sizeWasWrong;
    all.forEach(item -> item.alone = true);
  }

  /** The one to send next. */
  Item next() {
    Item next = items.iterator().next();
    if (bySize) {
      next = items.stream().max(Comparator.comparingInt(Suspects::size)).orElse(next);
    }
    items.remove(next);
    return next;
  }

  private static int size(Item item) {
    return item.message().message().payload().length;
  }

  /** The broker has taken it; returns the runs of those that need not go alone any more. */
  List<Run> acquitted(Item item) {
    item.alone = false;
    if (!bySize) {
      return List.of();
    }
    sizeWasWrong = !found;
    bySize = false;
    List<Run> free = new ArrayList<>();
    for (Item other : items) {
      other.alone = false;
      free.add(other.run);
    }
    items.clear();
    return free;
  }

  /** The one that was to blame is known. */
  void found() {
    found = true;
    sizeWasWrong = false;
  }
}
