package dev.outbox.tck.publisher;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Rule;
import dev.outbox.tck.publisher.PublisherTck.Attribute;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Publishers that break one rule each, which the tests of just that rule must notice. Each is a
 * mistake that is easily made in front of a real broker.
 */
public final class BrokenPublishers {
  private BrokenPublishers() {}

  /** Fires and forgets: what it calls delivered is still on its way. */
  @Rule("P1")
  static final class AcknowledgesTooEarly extends PublisherInMemory {
    private static final Executor LATER =
        CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS);
    private final List<Received> onTheirWay = new ArrayList<>();

    /** One task for all that is on its way: with one each, the next test waits for them all. */
    @Override
    void take(Received record) {
      boolean first;
      synchronized (onTheirWay) {
        first = onTheirWay.isEmpty();
        onTheirWay.add(record);
      }
      if (first) {
        LATER.execute(this::arrive);
      }
    }

    private void arrive() {
      synchronized (onTheirWay) {
        onTheirWay.forEach(broker::take);
        onTheirWay.clear();
      }
    }
  }

  /** Sends in portions, and forgets the results of the last one. */
  @Rule("P1")
  static final class GivesTooFewResults extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = super.publish(messages);
      return results.subList(0, Math.min(results.size(), 250));
    }
  }

  /** Has several messages of a key in flight: when one is refused, the later ones get through. */
  @Rule("P2")
  static final class SendsOnAfterRejected extends PublisherInMemory {
    @Override
    void stopped(StoredMessage message, Map<String, Result> stopped) {}
  }

  /** Sends a call's messages at once, and the second overtakes the first. */
  @Rule("P2")
  static final class LetsMessagesOvertake extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      if (messages.size() != 60) {
        return super.publish(messages);
      }
      List<StoredMessage> turned = new ArrayList<>(messages);
      turned.set(0, messages.get(7));
      turned.set(7, messages.get(0));
      return super.publish(turned);
    }
  }

  /** Counts an outage as the message's failure: after some retries it is a dead letter. */
  @Rule("P3")
  static final class BlamesMessagesForOutage extends PublisherInMemory {
    @Override
    Result down() {
      return Result.failed("connection refused");
    }
  }

  /** Says that the broker is there because its address can be parsed. */
  @Rule("P6")
  static final class ReachesWhatIsNotThere extends PublisherInMemory {
    @Override
    public Optional<String> unreachable(Duration patience) {
      return Optional.empty();
    }
  }

  /** Asks for a sign of life without a time limit, and where all is well none comes. */
  @Rule("P6")
  static final class WaitsForASign extends PublisherInMemory {
    @Override
    public Optional<String> unreachable(Duration patience) throws InterruptedException {
      Optional<String> trouble = super.unreachable(patience);
      if (trouble.isEmpty()) {
        new CountDownLatch(1).await();
      }
      return trouble;
    }
  }

  /** Remembers what it found out while the broker was away. */
  @Rule("P6")
  static final class StaysAway extends PublisherInMemory {
    private Optional<String> trouble = Optional.empty();

    @Override
    public synchronized Optional<String> unreachable(Duration patience)
        throws InterruptedException {
      trouble = trouble.isPresent() ? trouble : super.unreachable(patience);
      return trouble;
    }
  }

  /** Takes one missing queue for an outage of the broker, and stops for it. */
  @Rule("P3")
  static final class StopsForOneDeadDestination extends PublisherInMemory {
    @Override
    Result missing() {
      return down();
    }
  }

  /** Waits for the answer to each message, also where none came before. */
  @Rule("P3")
  static final class WaitsForTheSilent extends PublisherInMemory {
    @Override
    Duration patienceAgain() {
      return TIMEOUT; // far more than what a busy machine makes of no time at all
    }
  }

  /** The same every second time. */
  @Rule("P3")
  static final class ForgetsTheSilent extends PublisherInMemory {
    private boolean remembers = true;

    @Override
    Duration patienceAgain() {
      remembers = !remembers;
      return remembers ? super.patienceAgain() : TIMEOUT;
    }
  }

  /** Tries for ever what the broker never takes. */
  @Rule("P3")
  static final class RetriesWhatIsRejected extends PublisherInMemory {
    @Override
    Result send(StoredMessage message) throws InterruptedException {
      Result result = super.send(message);
      return result instanceof Result.Rejected rejected ? Result.failed(rejected.error()) : result;
    }
  }

  /** Keeps headers in a map. */
  @Rule("P4")
  static final class KeepsHeadersInMap extends PublisherInMemory {
    @Override
    List<Header> headers(OutboxMessage message) {
      Map<String, String> map = new LinkedHashMap<>();
      message.headers().forEach(h -> map.put(h.name(), h.value()));
      return map.entrySet().stream().map(e -> new Header(e.getKey(), e.getValue())).toList();
    }
  }

  /** One that writes other attributes than those of the message. */
  abstract static class WritesOtherwise extends PublisherInMemory {
    abstract void change(Map<Attribute, String> attributes);

    @Override
    Received record(StoredMessage stored) {
      Received right = super.record(stored);
      Map<Attribute, String> attributes = new HashMap<>(right.attributes());
      change(attributes);
      return new Received(right.key(), right.payload(), right.headers(), attributes);
    }
  }

  /** Sends what was thought of on the first day. */
  @Rule("P4")
  static final class ForgetsCorrelationId extends WritesOtherwise {
    @Override
    void change(Map<Attribute, String> attributes) {
      attributes.remove(Attribute.CORRELATION_ID);
    }
  }

  /** Takes nothing for an empty text. */
  @Rule("P4")
  static final class WritesWhatIsNotThere extends WritesOtherwise {
    @Override
    void change(Map<Attribute, String> attributes) {
      attributes.putIfAbsent(Attribute.DEDUP_KEY, "");
    }
  }

  /** Waits for the broker without a limit. */
  @Rule("P5")
  static final class WaitsForEver extends PublisherInMemory {
    @Override
    Duration patience() {
      return Duration.ofHours(1);
    }
  }

  /** Takes the acknowledgement of the first replica for enough. */
  @Rule("P1")
  static final class AcknowledgedByOneReplica extends PublisherInMemory {
    @Override
    Result notDurable(Received record) {
      take(record);
      return Result.delivered();
    }
  }

  /** Does not ask the broker to write down what it takes. */
  @Rule("P1")
  static final class LosesInACrash extends PublisherInMemory {
    @Override
    void take(Received record) {
      broker.takeUntilCrash(record);
    }
  }

  /** Throws away what it is given after its end. */
  @Rule("P1")
  static final class DropsAfterClose extends PublisherInMemory {
    private volatile boolean closed;

    @Override
    void take(Received record) {
      if (!closed) {
        super.take(record);
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** Writes to the socket, and does not wait for an answer. */
  @Rule("P1")
  static final class WaitsForNoAnswer extends PublisherInMemory {
    @Override
    Duration patience() {
      return Duration.ZERO;
    }

    @Override
    Result down() {
      return Result.delivered();
    }
  }

  /** Waits until nothing is without acknowledgement, as is the case when the connection is lost. */
  @Rule("P1")
  static final class TakesLossForAcknowledgement extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = super.publish(messages);
      if (results.get(0) instanceof Result.Delivered) {
        results.replaceAll(result -> result.equals(down()) ? Result.delivered() : result);
      }
      return results;
    }
  }

  /** Logs a refusal, and goes on. */
  @Rule("P1")
  static final class SwallowsRejection extends PublisherInMemory {
    @Override
    Result send(StoredMessage message) throws InterruptedException {
      Result result = super.send(message);
      return result instanceof Result.Rejected ? Result.delivered() : result;
    }
  }

  /** One result for all messages of a call. */
  @Rule("P1")
  static final class BlamesWholeBatch extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = super.publish(messages);
      return Collections.nCopies(
          results.size(),
          results.stream()
              .filter(r -> !(r instanceof Result.Delivered))
              .findFirst()
              .orElse(Result.delivered()));
    }
  }

  /** First the results of what was acknowledged, then those of what failed. */
  @Rule("P1")
  static final class SortsResults extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = new ArrayList<>(super.publish(messages));
      results.sort(Comparator.comparing(result -> !(result instanceof Result.Delivered)));
      return results;
    }
  }

  /** Reuses its list of results. */
  @Rule("P1")
  static final class ReusesResults extends PublisherInMemory {
    private final List<Result> results = new ArrayList<>();

    @Override
    public synchronized List<Result> publish(List<StoredMessage> messages)
        throws InterruptedException {
      List<Result> fresh = super.publish(messages);
      results.clear();
      results.addAll(fresh);
      return results;
    }
  }

  /** Keeps the results of the call that goes on in a field: there is one worker, is there not. */
  @Rule("P1")
  static final class KnowsOneWorker extends PublisherInMemory {
    private volatile List<Result> current = List.of();

    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      current = super.publish(messages);
      TimeUnit.MILLISECONDS.sleep(5); // for the answer
      return current;
    }
  }

  /** Tries again in the background what the broker did not take, the last first. */
  @Rule("P2")
  static final class RetriesInBackground extends PublisherInMemory {
    private final Deque<Received> waiting = new ArrayDeque<>();

    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      while (!waiting.isEmpty() && broker.answers(Duration.ZERO)) {
        take(waiting.pop());
      }
      List<Result> results = super.publish(messages);
      for (int i = 0; i < results.size(); i++) {
        if (results.get(i).equals(down())) {
          waiting.push(record(messages.get(i)));
        }
      }
      return results;
    }
  }

  /** Names a queue for each message that it cannot send, also when no queue answers. */
  @Rule("P3")
  static final class BlamesDestinationForOutage extends PublisherInMemory {
    @Override
    Result down() {
      return Result.unavailable("no answer", "a queue");
    }
  }

  /** Calls each error of the client a rejection. */
  @Rule("P3")
  static final class RejectsDuringOutage extends PublisherInMemory {
    @Override
    Result down() {
      return Result.rejected("connection refused");
    }
  }

  /** Lets the caller find out what an exception means. */
  @Rule("P3")
  static final class ThrowsDuringOutage extends PublisherInMemory {
    @Override
    Result down() {
      throw new IllegalStateException("connection refused");
    }
  }

  /** Has a time limit for what fills a batch. */
  @Rule("P5")
  static final class WaitsForFewMessages extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      if (messages.size() == 2) {
        boolean ignored = broker.answers(Duration.ofHours(1));
      }
      return super.publish(messages);
    }
  }

  /** Has a time limit, for each message. */
  @Rule("P5")
  static final class LimitsEachMessage extends PublisherInMemory {
    @Override
    boolean stopsWhenDown() {
      return false;
    }

    @Override
    Duration patience() {
      return TIMEOUT;
    }
  }

  /** Limits the wait for acknowledgements, and not the write that waits for the broker to read. */
  @Rule("P5")
  static final class BlocksInWrite extends PublisherInMemory {
    private static final int BUFFERS = 6_000_000;

    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      int bytes = messages.stream().mapToInt(m -> m.message().payloadSize()).sum();
      if (bytes > BUFFERS) {
        boolean ignored = broker.answers(Duration.ofHours(1));
      }
      return super.publish(messages);
    }
  }

  /** Waits for acknowledgements that nobody hands over once the client is closed. */
  @Rule("P5")
  static final class ForgetsCallsAtClose extends PublisherInMemory {
    private volatile boolean closed;

    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = super.publish(messages);
      TimeUnit.MILLISECONDS.sleep(5); // for the answer
      if (closed) {
        TimeUnit.HOURS.sleep(1);
      }
      return results;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** The broker knows the id already, and the publisher takes that for an error. */
  @Rule("P3")
  static final class RefusesRepeats extends PublisherInMemory {
    private final Set<UUID> known = ConcurrentHashMap.newKeySet();

    @Override
    Result send(StoredMessage message) throws InterruptedException {
      Result result = super.send(message);
      return result instanceof Result.Delivered && !known.add(message.message().id())
          ? Result.failed("duplicate message id")
          : result;
    }
  }

  /** Waits for the first message of a key, and sends the others at once when that one was taken. */
  @Rule("P2")
  static final class TrustsDestination extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = new ArrayList<>(super.publish(messages));
      Set<String> trusted = new HashSet<>();
      for (int i = 0; i < results.size(); i++) {
        if (results.get(i) instanceof Result.Delivered) {
          trusted.add(messages.get(i).key());
        } else if (isBehind(results.get(i)) && trusted.contains(messages.get(i).key())) {
          results.set(i, send(messages.get(i)));
        }
      }
      return results;
    }

    private static boolean isBehind(Result result) {
      return result instanceof Result.Unavailable u && u.error().equals(BEHIND);
    }
  }

  /** Writes headers as lines of text, and whoever reads them finds other ones. */
  @Rule("P4")
  static final class WritesHeadersAsLines extends PublisherInMemory {
    @Override
    List<Header> headers(OutboxMessage message) {
      String lines =
          message.headers().stream()
              .map(h -> h.name() + ": " + h.value() + "\n")
              .collect(Collectors.joining());
      return lines
          .lines()
          .map(line -> line.split(": ", 2))
          .filter(parts -> parts.length == 2 && !parts[0].isBlank())
          .map(parts -> new Header(parts[0], parts[1]))
          .toList();
    }
  }

  /** Has room for so many headers, and leaves out the rest. */
  @Rule("P4")
  static final class LimitsHeaders extends PublisherInMemory {
    @Override
    List<Header> headers(OutboxMessage message) {
      return message.headers().stream().limit(64).toList();
    }
  }

  /** Waits for a destination that somebody will make. */
  @Rule("P5")
  static final class WaitsForMissing extends PublisherInMemory {
    @Override
    Result send(StoredMessage message) throws InterruptedException {
      Result result = super.send(message);
      if (result.equals(missing())) {
        TimeUnit.HOURS.sleep(1);
      }
      return result;
    }
  }

  /** Ends what is over. */
  @Rule("P5")
  static final class ThrowsAtItsEnd extends PublisherInMemory {
    @Override
    public void close() {
      throw new IllegalStateException("the connection is closed");
    }
  }

  /** Waits at its end until the broker has said goodbye. */
  @Rule("P5")
  static final class ClosesLate extends PublisherInMemory {
    @Override
    public void close() {
      try {
        boolean ignored = broker.answers(Duration.ofHours(1));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
