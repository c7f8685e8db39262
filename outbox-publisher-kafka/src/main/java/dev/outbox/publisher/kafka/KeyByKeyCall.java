package dev.outbox.publisher.kafka;

import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * One call in the default mode. All heads of keys are sent at once; each acknowledgement lets its
 * key's next message go. Only the calling thread sends: callbacks run in the producer's own thread
 * and merely report. Nothing blocks but the wait for reports.
 */
final class KeyByKeyCall {
  private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long CHECK_EVERY = TimeUnit.MILLISECONDS.toNanos(50);

  private final ProducerHolder holder;
  private final ProducerHolder.Connection connection;
  private final Contact.Ear ear;
  private final Records records;
  private final Topics topics;
  private final Timing timing;
  private final Result[] results;
  private final long start = System.nanoTime();
  private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
  private final Set<Item> inFlight = new LinkedHashSet<>();
  private Queue<Item> toSend = new ArrayDeque<>();
  private long nextCheck = start + CHECK_EVERY;
  private int open;

  /** A message on its way; the next is the following one of its key. */
  private static final class Item {
    final int index;
    final StoredMessage message;
    @Nullable Item next;
    @Nullable ProducerRecord<byte[], byte[]> record;
    long since;

    /** Set by whoever comes first: the callback, or the call that gives up. */
    AtomicBoolean ended = new AtomicBoolean();

    Item(int index, StoredMessage message) {
      this.index = index;
      this.message = message;
    }
  }

  private record Report(Item item, @Nullable Exception error) {}

  KeyByKeyCall(
      ProducerHolder holder,
      ProducerHolder.Connection connection,
      Records records,
      Topics topics,
      Timing timing,
      List<StoredMessage> messages) {
    this.holder = holder;
    this.connection = connection;
    this.ear = connection.contact().listen();
    this.records = records;
    this.topics = topics;
    this.timing = timing;
    this.results = new Result[messages.size()];
    this.open = messages.size();
    Map<String, Item> last = new HashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      Item item = new Item(i, messages.get(i));
      Item before = last.put(item.message.key(), item);
      if (before == null) {
        toSend.add(item);
      } else {
        before.next = item;
      }
    }
  }

  List<Result> run() throws InterruptedException {
    try {
      while (true) {
        ear.listen();
        sendAll();
        if (open == 0) {
          return Arrays.asList(results);
        }
        Report report =
            reports.poll(toSend.isEmpty() ? CHECK_EVERY : LOOK_AGAIN, TimeUnit.NANOSECONDS);
        for (; report != null; report = reports.poll()) {
          ended(report);
        }
        giveUpOnLate();
      }
    } finally {
      inFlight.forEach(this::abandon);
    }
  }

  private void sendAll() {
    Map<String, Topics.Found> found = new HashMap<>();
    Queue<Item> now = toSend;
    toSend = new ArrayDeque<>();
    for (Item item : now) {
      if (item.record == null && !prepare(item)) {
        continue;
      }
      String topic = topic(item);
      if (topics.isStuck(topic)) {
        refuseStuck(item, topic);
        continue;
      }
      Topics.Found is =
          found.computeIfAbsent(topic, name -> topics.look(connection.producer(), name));
      if (is instanceof Topics.Found.Refused refused) {
        decide(item, refused.result());
      } else if (is instanceof Topics.Found.Pending) {
        toSend.add(item);
      } else {
        send(item);
      }
    }
  }

  /** Waits just long enough to know whether the broker answers, so that the right one is blamed. */
  private void refuseStuck(Item item, String topic) {
    if (answers() || System.nanoTime() - start > timing.silence()) {
      decide(item, outOfReach("topic %s: earlier records are still on their way", topic));
    } else {
      toSend.add(item);
    }
  }

  private boolean prepare(Item item) {
    item.since = System.nanoTime();
    try {
      item.record = records.of(item.message);
      return true;
    } catch (IllegalArgumentException e) {
      decide(item, Result.failed(String.valueOf(e.getMessage())));
      return false;
    }
  }

  private void send(Item item) {
    AtomicBoolean ended = new AtomicBoolean();
    item.ended = ended;
    item.since = System.nanoTime();
    inFlight.add(item);
    try {
      connection
          .producer()
          .send(
              item.record,
              (metadata, error) -> {
                if (ended.compareAndSet(false, true)) {
                  reports.add(new Report(item, error));
                } else {
                  topics.unstuck(topic(item), error == null);
                }
              });
    } catch (KafkaException | IllegalStateException e) {
      if (ended.compareAndSet(false, true)) {
        reports.add(new Report(item, e));
      }
    }
  }

  private void ended(Report report) {
    Item item = report.item();
    inFlight.remove(item);
    Exception error = report.error();
    if (error == null) {
      topics.acknowledged(topic(item));
      results[item.index] = Result.DELIVERED;
      open--;
      if (item.next != null) {
        toSend.add(item.next);
      }
    } else if (error instanceof BufferExhaustedException) {
      toSend.add(item); // the buffer is full: once more, when something has left it
    } else {
      decide(item, resultOf(error, topic(item)));
    }
  }

  private Result resultOf(Exception error, String topic) {
    if (Results.isProducersFault(error)) {
      holder.retire(connection);
    }
    if (Results.isGeneric(error) && !holder.isCurrent(connection)) {
      return Result.unavailable(Results.text(error, topic));
    }
    Result result = Results.result(error, topic, answers());
    if (result instanceof Result.Unavailable unavailable && unavailable.destination() != null) {
      topics.slow(topic);
    }
    return result;
  }

  /** Gives up on topics that take too long while the broker answers, at the deadline on all. */
  private void giveUpOnLate() {
    long now = System.nanoTime();
    if (now - nextCheck < 0) {
      return;
    }
    nextCheck = now + CHECK_EVERY;
    boolean over = now - start >= timing.deadline();
    for (Item item : List.copyOf(inFlight)) {
      if (over || isLate(item, now)) {
        if (abandon(item)) {
          inFlight.remove(item);
          if (answers()) {
            topics.slow(topic(item));
          }
          decide(item, outOfReach("topic %s: not acknowledged in time", topic(item)));
        }
      }
    }
    for (Iterator<Item> items = toSend.iterator(); items.hasNext(); ) {
      Item item = items.next();
      if (item.record != null && (over || isLate(item, now))) {
        items.remove();
        decide(item, outOfReach("topic %s: no answer about it in time", topic(item)));
      }
    }
  }

  private boolean isLate(Item item, long now) {
    return answers() && now - item.since >= topics.patience(topic(item));
  }

  /** Leaves a record to its callback; false when that was faster and its report is waiting. */
  private boolean abandon(Item item) {
    topics.stuck(topic(item));
    if (item.ended.compareAndSet(false, true)) {
      return true;
    }
    topics.unstuck(topic(item), false);
    return false;
  }

  private boolean answers() {
    return ear.heardWithin(timing.silence());
  }

  private Result outOfReach(String text, String topic) {
    return answers()
        ? Result.unavailable(text.formatted(topic), topic)
        : Result.unavailable(text.formatted(topic) + "; the broker does not answer");
  }

  /** Decides a message that was not delivered, and with it the later ones of its key (P2). */
  private void decide(Item item, Result result) {
    results[item.index] = result;
    open--;
    for (Item later = item.next; later != null; later = later.next) {
      results[later.index] = Results.notSent(item.message, result, topic(item));
      open--;
    }
  }

  private static String topic(Item item) {
    return item.record == null ? item.message.message().aggregateType() : item.record.topic();
  }
}
