package dev.outbox.publisher.kafka;

import dev.outbox.OutboxException;
import dev.outbox.publisher.kafka.KeyRun.Item;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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
 * One call in the default mode. All its records are given to the producer at once; it has one
 * request in flight, so the records of a key go to its partition in order. When one fails, those
 * behind it must not get through:
 *
 * <ol>
 *   <li>the callback, which runs in the producer's only sending thread, closes the producer when
 *       later records of that key were given to it: nothing more is sent, not even what is waiting;
 *   <li>the call gives that message its result, the later ones of its key are not sent, and all
 *       that went down with the producer is sent again through a new one;
 *   <li>for a while {@link Topics} calls that topic's records risky: of each key, only one at a
 *       time is in flight, so that failures cost no producer.
 * </ol>
 *
 * <p>Only the calling thread sends; callbacks report. Nothing blocks but the wait for reports.
 */
final class DirectCall {
  private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long CHECK_EVERY = TimeUnit.MILLISECONDS.toNanos(50);

  private final ProducerHolder holder;
  private final Records records;
  private final Topics topics;
  private final Timing timing;
  private final List<KeyRun> runs;
  private final Result[] results;
  private final long start = System.nanoTime();
  private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
  private final Set<Item> inFlight = new LinkedHashSet<>();
  private Set<KeyRun> toSend = new LinkedHashSet<>();
  private long nextCheck = start + CHECK_EVERY;
  private int open;
  private @Nullable Connection connection;
  private Contact.@Nullable Ear ear;

  private record Report(Item item, Connection via, @Nullable Exception error) {}

  DirectCall(
      ProducerHolder holder,
      Records records,
      Topics topics,
      Timing timing,
      List<StoredMessage> messages) {
    this.holder = holder;
    this.records = records;
    this.topics = topics;
    this.timing = timing;
    this.results = new Result[messages.size()];
    this.open = messages.size();
    Map<String, KeyRun> byKey = new LinkedHashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      byKey.computeIfAbsent(messages.get(i).key(), key -> new KeyRun()).add(i, messages.get(i));
    }
    runs = List.copyOf(byKey.values());
    toSend.addAll(runs);
  }

  List<Result> run() throws InterruptedException {
    try {
      while (true) {
        sendAll(connect());
        if (open == 0 && inFlight.isEmpty()) {
          return Arrays.asList(results);
        }
        Report report =
            reports.poll(toSend.isEmpty() ? CHECK_EVERY : LOOK_AGAIN, TimeUnit.NANOSECONDS);
        for (; report != null; report = reports.poll()) {
          ended(report);
        }
        giveUpOnLate();
      }
    } catch (OutboxException e) { // no producer
      decideAll(Result.unavailable(String.valueOf(e.getMessage())));
      return Arrays.asList(results);
    } finally {
      inFlight.forEach(this::abandon);
    }
  }

  /** The producer in use, which is another one when the last has been closed. */
  private Connection connect() {
    Connection current = holder.get();
    if (current != connection) {
      connection = current;
      ear = current.contact().listen();
    } else if (ear != null) {
      ear.listen();
    }
    return current;
  }

  private void sendAll(Connection via) {
    Map<String, Topics.Found> found = new HashMap<>();
    Set<KeyRun> now = toSend;
    toSend = new LinkedHashSet<>();
    for (KeyRun run : now) {
      while (run.next < run.end && sendNext(run, via, found)) {}
    }
  }

  /** Returns whether the next one of the key may be sent at once. */
  private boolean sendNext(KeyRun run, Connection via, Map<String, Topics.Found> found) {
    Item item = run.items.get(run.next);
    Topics.Found is = find(item, via, found);
    if (run.inFlight > 0 && !(is instanceof Topics.Found.Ready && mayFollow(item))) {
      return false; // the reports of what is in flight lead back here
    }
    if (is instanceof Topics.Found.Refused refused) {
      decide(run, item.position, refused.result());
      return false;
    }
    if (is instanceof Topics.Found.Pending) {
      toSend.add(run);
      return false;
    }
    send(item, via);
    return !run.failed;
  }

  /** Whether it may be in flight behind the one before it: then both go to one partition. */
  private boolean mayFollow(Item item) {
    Item before = item.run.items.get(item.position - 1);
    return before.topic().equals(item.topic()) && !topics.isRisky(item.topic());
  }

  private Topics.Found find(Item item, Connection via, Map<String, Topics.Found> found) {
    if (item.record == null) {
      try {
        item.record = records.of(item.message);
      } catch (IllegalArgumentException e) {
        return new Topics.Found.Refused(Result.failed(String.valueOf(e.getMessage())));
      }
    }
    String topic = item.topic();
    if (topics.isStuck(topic)) {
      // Waits just long enough to know whether the broker answers, so that the right one is blamed.
      return answers() || System.nanoTime() - start > timing.silence()
          ? new Topics.Found.Refused(
              outOfReach("topic %s: earlier records are still on their way", topic))
          : Topics.Found.PENDING;
    }
    Topics.Found is = found.computeIfAbsent(topic, name -> topics.look(via.producer(), name));
    boolean closed = is instanceof Topics.Found.Refused && !holder.isCurrent(via);
    return closed ? Topics.Found.PENDING : is;
  }

  private void send(Item item, Connection via) {
    AtomicBoolean ended = new AtomicBoolean();
    KeyRun run = item.run;
    run.handedOver = item.position;
    if (run.failed) {
      return;
    }
    if (run.inFlight == 0) {
      run.since = System.nanoTime();
    }
    item.ended = ended;
    run.next++;
    run.inFlight++;
    inFlight.add(item);
    ProducerRecord<byte[], byte[]> record = item.record;
    try {
      via.producer().send(record, (metadata, error) -> called(item, ended, via, error));
    } catch (KafkaException | IllegalStateException e) {
      called(item, ended, via, e);
    }
  }

  /** In the producer's thread, or in the caller's when the producer does not take the record. */
  private void called(Item item, AtomicBoolean ended, Connection via, @Nullable Exception error) {
    if (error != null) {
      item.run.failed = true;
      if (item.run.handedOver > item.position && holder.retire(via)) {
        topics.risky(item.topic());
      }
    }
    if (ended.compareAndSet(false, true)) {
      reports.add(new Report(item, via, error));
    } else {
      topics.unstuck(item.topic(), error == null);
    }
  }

  private void ended(Report report) {
    Item item = report.item();
    KeyRun run = item.run;
    Exception error = report.error();
    inFlight.remove(item);
    run.inFlight--;
    if (item.position < run.end) {
      if (error == null && item.position == run.delivered) {
        topics.acknowledged(item.topic());
        results[item.index] = Result.DELIVERED;
        open--;
        run.delivered++;
        run.since = System.nanoTime();
      } else if (error == null || goesAgain(report, error)) {
        run.again = true;
      } else {
        decide(run, item.position, resultOf(report, error));
      }
    }
    if (run.inFlight == 0) {
      if (run.again) {
        run.rewind();
      }
      toSend.add(run);
    }
  }

  /** Whether a record is sent again within this call, because it is not to blame. */
  private boolean goesAgain(Report report, Exception error) {
    if (error instanceof BufferExhaustedException) {
      return true; // once more, when something has left the buffer
    }
    boolean generic = Results.isGeneric(error) || error instanceof IllegalStateException;
    if (generic && !holder.isCurrent(report.via())) {
      return true; // it went down with its producer
    }
    boolean again = generic && !Results.isProducersFault(error) && !report.item().suspected;
    report.item().suspected |= again; // as when another record of its batch is invalid
    return again;
  }

  private Result resultOf(Report report, Exception error) {
    String topic = report.item().topic();
    Result result = Results.result(error, topic, answers());
    if (Results.isProducersFault(error)) {
      boolean ignored = holder.retire(report.via());
      decideAll(result);
    } else if (result instanceof Result.Unavailable unavailable
        && unavailable.destination() != null) {
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
    Set<KeyRun> waiting = new LinkedHashSet<>();
    inFlight.forEach(item -> waiting.add(item.run));
    for (KeyRun run : waiting) {
      if (over || isLate(run, now)) {
        abandon(run);
      }
    }
    for (KeyRun run : List.copyOf(toSend)) {
      if (run.next < run.end && (over || isLate(run, now))) {
        toSend.remove(run);
        String text = "topic %s: no answer about it in time";
        decide(run, run.next, outOfReach(text, run.items.get(run.next).topic()));
      }
    }
  }

  private boolean isLate(KeyRun run, long now) {
    if (!answers()) {
      return false;
    }
    Item first = run.items.get(Math.min(run.delivered, run.items.size() - 1));
    return now - run.since >= topics.patience(first.topic());
  }

  /** Leaves all of a key that is in flight to its callbacks. */
  private void abandon(KeyRun run) {
    int from = run.items.size();
    for (Item item : run.items) {
      if (inFlight.contains(item) && abandon(item)) {
        inFlight.remove(item);
        run.inFlight--;
        from = Math.min(from, item.position);
      }
    }
    if (from < run.end) {
      String topic = run.items.get(from).topic();
      if (answers()) {
        topics.slow(topic);
      }
      decide(run, from, outOfReach("topic %s: not acknowledged in time", topic));
    }
  }

  /** Leaves a record to its callback; false when that was faster and its report is waiting. */
  private boolean abandon(Item item) {
    topics.stuck(item.topic());
    if (item.ended.compareAndSet(false, true)) {
      return true;
    }
    topics.unstuck(item.topic(), false);
    return false;
  }

  private boolean answers() {
    return ear != null && ear.heardWithin(timing.silence());
  }

  private Result outOfReach(String text, String topic) {
    return answers()
        ? Result.unavailable(text.formatted(topic), topic)
        : Result.unavailable(text.formatted(topic) + "; the broker does not answer");
  }

  /** Decides a message that was not delivered, and with it the later ones of its key (P2). */
  private void decide(KeyRun run, int from, Result result) {
    for (int i = from; i < run.end; i++) {
      Item culprit = run.items.get(from);
      results[run.items.get(i).index] =
          i == from ? result : Results.notSent(culprit.message, result, culprit.topic());
      open--;
    }
    run.end = Math.min(from, run.end);
  }

  private void decideAll(Result result) {
    runs.forEach(run -> decide(run, run.delivered, result));
  }
}
