package dev.outbox.tck.publisher;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherBroker.NotTaken;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A publisher that is right, with one method for each mistake that {@link BrokenPublishers} make.
 */
class PublisherInMemory implements MessagePublisher {
  static final Duration TIMEOUT = Duration.ofMillis(300);
  static final String BEHIND = "an earlier one was not delivered";

  /** Whoever makes it sets it. */
  PublisherBroker broker = new PublisherBroker();

  private final long patience = TIMEOUT.toMillis() / 2;
  private volatile boolean silent;

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    List<Result> results = new ArrayList<>();
    Map<String, Result> stopped = new HashMap<>();
    Result down = null;
    for (StoredMessage message : messages) {
      Result result = down != null ? down : stopped.get(message.key());
      if (result == null) {
        result = send(message);
      }
      results.add(result);
      if (!(result instanceof Result.Delivered)) {
        stopped(message, stopped);
      }
      if (stopsWhenDown() && result instanceof Result.Unavailable u && u.destination() == null) {
        down = result;
      }
    }
    return results;
  }

  @Override
  public String address() {
    return "memory";
  }

  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    return broker.answers(patience) ? Optional.empty() : Optional.of("it does not answer");
  }

  void stopped(StoredMessage message, Map<String, Result> stopped) {
    stopped.put(message.key(), Result.unavailable(BEHIND, "a queue"));
  }

  Result send(StoredMessage message) throws InterruptedException {
    Received record = record(message);
    boolean again = silent && PublisherBroker.has(record, PublisherBroker.HANGING);
    try {
      broker.check(record, again ? patienceAgain() : patience());
      take(record);
      return Result.delivered();
    } catch (NotTaken e) {
      return switch (e.reason) {
        case REJECTED -> Result.rejected("the broker never takes it");
        case MISSING -> missing();
        case NOT_DURABLE -> notDurable(record);
        case SILENT -> silent();
        case DOWN -> down();
      };
    }
  }

  Duration patience() {
    return Duration.ofMillis(patience);
  }

  /** For a destination that was silent before. */
  Duration patienceAgain() {
    return Duration.ZERO;
  }

  void take(Received record) {
    broker.take(record);
  }

  Result missing() {
    return Result.unavailable("no such queue", "a queue");
  }

  Result notDurable(Received record) {
    return Result.unavailable("not enough replicas", "another queue");
  }

  private Result silent() {
    silent = true;
    return Result.unavailable("no answer", "a silent queue");
  }

  Result down() {
    return Result.unavailable("the broker does not answer");
  }

  /** Whether nothing more is sent once the broker is down. */
  boolean stopsWhenDown() {
    return true;
  }

  List<Header> headers(OutboxMessage message) {
    return message.headers();
  }

  Received record(StoredMessage stored) {
    OutboxMessage message = stored.message();
    return Received.of(message.recordKey(), message.payload(), headers(message)).about(stored);
  }
}
