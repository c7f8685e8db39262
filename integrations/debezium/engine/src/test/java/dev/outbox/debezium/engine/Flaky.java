package dev.outbox.debezium.engine;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Fails every seventh message once, so that the relay moves its key's messages out of the way. */
final class Flaky implements MessagePublisher {
  private final MessagePublisher publisher;
  private final Set<Long> failed = ConcurrentHashMap.newKeySet();

  Flaky(MessagePublisher publisher) {
    this.publisher = publisher;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    Set<String> waiting = new HashSet<>();
    List<StoredMessage> passed = new ArrayList<>();
    for (StoredMessage message : messages) {
      if (!waiting.contains(message.key())
          && (message.sequence() % 7 != 0 || !failed.add(message.sequence()))) {
        passed.add(message);
      } else {
        waiting.add(message.key());
      }
    }
    List<Result> delivered = passed.isEmpty() ? List.of() : publisher.publish(passed);
    List<Result> results = new ArrayList<>();
    for (StoredMessage message : messages) {
      int place = passed.indexOf(message);
      results.add(place < 0 ? Result.failed("not yet") : delivered.get(place));
    }
    return results;
  }

  int failures() {
    return failed.size();
  }

  @Override
  public void close() {
    publisher.close();
  }
}
