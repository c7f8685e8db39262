package dev.outbox.relay;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * Delivers, unless told otherwise for an event type, and keeps P2. Knows what was delivered, in
 * order.
 */
class FakePublisher implements MessagePublisher {

  /** What happens to a message: gives its result, throws or hangs. */
  interface Behaviour {
    Result publish() throws InterruptedException;
  }

  final List<StoredMessage> delivered = new CopyOnWriteArrayList<>();
  final List<List<Long>> calls = new CopyOnWriteArrayList<>();
  final Map<String, Behaviour> behaviours = new ConcurrentHashMap<>();
  volatile Behaviour whole = Result::delivered;

  /** Says that it is inside, and delivers when it may go on. */
  static Behaviour waiting(CountDownLatch inside, CountDownLatch goOn) {
    return () -> {
      inside.countDown();
      goOn.await();
      return Result.delivered();
    };
  }

  static Behaviour throwing(RuntimeException e) {
    return () -> {
      throw e;
    };
  }

  FakePublisher on(String event, Behaviour behaviour) {
    behaviours.put(event, behaviour);
    return this;
  }

  List<String> deliveredEvents() {
    return delivered.stream().map(m -> m.message().eventType()).toList();
  }

  /** What becomes of one. */
  Result publish(StoredMessage message) throws InterruptedException {
    return behaviours.getOrDefault(message.message().eventType(), whole).publish();
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    calls.add(messages.stream().map(StoredMessage::sequence).toList());
    List<Result> results = new ArrayList<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : messages) {
      if (stopped.contains(message.key())) {
        results.add(Result.failed("an earlier message of its key was not delivered"));
        continue;
      }
      Result result = publish(message);
      if (result instanceof Result.Delivered) {
        delivered.add(message);
      } else {
        stopped.add(message.key());
      }
      results.add(result);
    }
    return results;
  }
}
