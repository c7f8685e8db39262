package dev.outbox.publisher.kafka;

import dev.outbox.OutboxException;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.jspecify.annotations.Nullable;

/**
 * One call in the transactional mode:
 *
 * <ol>
 *   <li>messages without a topic that exists are decided beforehand;
 *   <li>the others are sent in one transaction, which is committed when all were acknowledged;
 *   <li>when one was not, the transaction is aborted; the culprits get their results, later
 *       messages of their keys are not sent, and the rest is tried again in a new transaction.
 * </ol>
 *
 * <p>A producer that does not do as it is told is given up at once. A commit whose answer did not
 * come may have happened: its messages are delivered again then, in order.
 */
final class TransactionalCall {
  private static final long LOOK_AGAIN_MILLIS = 5;
  private static final long CHECK_MILLIS = 50;

  private final ProducerHolder lookup;
  private final Transactional.Slot slot;
  private final Topics topics;
  private final Timing timing;
  private final Records records;
  private final List<StoredMessage> messages;
  private final @Nullable Result[] results;
  private final List<@Nullable ProducerRecord<byte[], byte[]>> prepared = new ArrayList<>();
  private final long start = System.nanoTime();
  private Contact.@Nullable Ear ear;

  /** The end of one record's way. */
  private record Report(int index, @Nullable Exception error) {}

  TransactionalCall(
      ProducerHolder lookup,
      Transactional.Slot slot,
      Records records,
      Topics topics,
      Timing timing,
      List<StoredMessage> messages) {
    this.lookup = lookup;
    this.slot = slot;
    this.records = records;
    this.topics = topics;
    this.timing = timing;
    this.messages = messages;
    this.results = new Result[messages.size()];
  }

  List<Result> run() throws InterruptedException {
    try {
      prepare();
      List<Integer> open = open();
      while (!open.isEmpty()) {
        if (late(3 * timing.block())) {
          open.forEach(i -> decide(i, outOfReach("topic %s: no time left", i)));
        } else {
          transact(open);
        }
        open = open();
      }
    } catch (InterruptException e) {
      Thread.interrupted();
      slot.retire();
      throw new InterruptedException("interrupted while publishing to Kafka");
    } catch (InterruptedException e) {
      slot.retire();
      throw e;
    } catch (OutboxException e) {
      Result result = Result.unavailable(String.valueOf(e.getMessage()));
      open().forEach(i -> decide(i, result));
    }
    return Arrays.asList(results);
  }

  /** Makes the records, and waits until it is known of each topic whether it exists. */
  private void prepare() throws InterruptedException {
    for (int i = 0; i < messages.size(); i++) {
      ProducerRecord<byte[], byte[]> record = null;
      try {
        record = records.of(messages.get(i));
      } catch (IllegalArgumentException e) {
        results[i] = Result.failed(String.valueOf(e.getMessage()));
      }
      prepared.add(record);
    }
    ProducerHolder.Connection connection = lookup.get();
    ear = connection.contact().listen();
    Map<String, Topics.Found> found = new HashMap<>();
    while (true) {
      sample();
      boolean pending = false;
      boolean over = late(3 * timing.block()) || (answers() && elapsed() > timing.patience());
      for (int i : open()) {
        String topic = topic(i);
        found.computeIfPresent(topic, (t, f) -> f instanceof Topics.Found.Pending ? null : f);
        Topics.Found is =
            found.computeIfAbsent(topic, name -> topics.look(connection.producer(), name));
        if (is instanceof Topics.Found.Refused refused) {
          results[i] = refused.result();
        } else if (is instanceof Topics.Found.Pending && over) {
          results[i] = outOfReach("topic %s: no answer about it in time", i);
        } else {
          pending |= is instanceof Topics.Found.Pending;
        }
      }
      if (!pending) {
        stopKeys();
        return;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
    }
  }

  private void transact(List<Integer> batch) throws InterruptedException {
    BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
    Map<Integer, Exception> errors = new HashMap<>();
    RuntimeException failure = null;
    try {
      ProducerHolder.Connection connection = slot.ready();
      ear = connection.contact().listen();
      connection.producer().beginTransaction();
      if (sendAll(connection.producer(), batch, reports) && awaitAll(batch, reports, errors)) {
        connection.producer().commitTransaction();
        for (int i : batch) {
          results[i] = Result.DELIVERED;
          topics.acknowledged(topic(i));
        }
        return;
      }
      connection.producer().abortTransaction();
    } catch (InterruptException e) {
      throw e;
    } catch (KafkaException | IllegalStateException e) {
      failure = e;
      slot.abortOrRetire(!Results.isProducersFault(e) && !late(timing.block()));
    }
    for (Report report = reports.poll(); report != null; report = reports.poll()) {
      note(report, errors);
    }
    blame(batch, errors, failure);
  }

  /** Returns whether all could be handed to the producer. */
  private boolean sendAll(
      Producer<byte[], byte[]> producer, List<Integer> batch, BlockingQueue<Report> reports) {
    for (int i : batch) {
      if (late(2 * timing.block())) {
        return false;
      }
      producer.send(prepared.get(i), (metadata, error) -> reports.add(new Report(i, error)));
    }
    return true;
  }

  /**
   * Waits for the acknowledgements; returns whether all came. Errors are noted, and an error that
   * is not worth noting is no acknowledgement either.
   */
  private boolean awaitAll(
      List<Integer> batch, BlockingQueue<Report> reports, Map<Integer, Exception> errors)
      throws InterruptedException {
    Set<Integer> waiting = new HashSet<>(batch);
    long since = System.nanoTime();
    boolean failed = false;
    while (!waiting.isEmpty() && !failed && !late(timing.block())) {
      sample();
      Report report = reports.poll(CHECK_MILLIS, TimeUnit.MILLISECONDS);
      for (; report != null; report = reports.poll()) {
        waiting.remove(report.index());
        failed |= report.error() != null;
        note(report, errors);
      }
      long waited = System.nanoTime() - since;
      for (int i : waiting) {
        if (answers() && waited > topics.patience(topic(i))) {
          failed = true;
          errors.put(
              i, new org.apache.kafka.common.errors.TimeoutException("not acknowledged in time"));
        }
      }
    }
    return waiting.isEmpty() && !failed;
  }

  /** Notes an error unless it only follows from another one. */
  private static void note(Report report, Map<Integer, Exception> errors) {
    Exception error = report.error();
    if (error != null
        && !Results.isGeneric(error)
        && !(error instanceof TransactionAbortedException)
        && !(error instanceof TransactionAbortableException)) {
      errors.putIfAbsent(report.index(), error);
    }
  }

  /** Gives the culprits their results; without one, the transaction as such did not work. */
  private void blame(
      List<Integer> batch, Map<Integer, Exception> errors, @Nullable RuntimeException failure) {
    Result whole = null;
    for (Map.Entry<Integer, Exception> entry : errors.entrySet()) {
      int i = entry.getKey();
      if (Results.isProducersFault(entry.getValue())) {
        slot.retire();
      }
      Result result = Results.result(entry.getValue(), topic(i), answers());
      if (!(result instanceof Result.Unavailable unavailable)) {
        decide(i, result);
      } else if (unavailable.destination() == null) {
        whole = result;
      } else {
        topics.slow(topic(i));
        decide(i, result);
      }
    }
    if (whole != null) {
      Result result = whole;
      batch.forEach(i -> decide(i, result));
    }
    if (errors.isEmpty() && failure != null) {
      Result result = Result.unavailable("the transaction did not work: " + failure);
      batch.forEach(i -> decide(i, result));
    } else if (errors.isEmpty()) {
      batch.forEach(i -> decide(i, outOfReach("topic %s: transaction aborted", i)));
    }
    stopKeys();
  }

  /** Decides the later messages of keys of which one was not delivered (P2). */
  private void stopKeys() {
    Map<String, Integer> stopped = new HashMap<>();
    for (int i = 0; i < messages.size(); i++) {
      Integer earlier = stopped.get(messages.get(i).key());
      Result result = results[i];
      if (earlier != null && !(result instanceof Result.Delivered)) {
        Result why = results[earlier];
        if (why != null) {
          results[i] = Results.notSent(messages.get(earlier), why, topic(earlier));
        }
      } else if (result != null && !(result instanceof Result.Delivered)) {
        stopped.put(messages.get(i).key(), i);
      }
    }
  }

  private List<Integer> open() {
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < results.length; i++) {
      if (results[i] == null) {
        open.add(i);
      }
    }
    return open;
  }

  private void decide(int i, Result result) {
    if (results[i] == null) {
      results[i] = result;
    }
  }

  private Result outOfReach(String text, int i) {
    String topic = topic(i);
    return answers()
        ? Result.unavailable(text.formatted(topic), topic)
        : Result.unavailable(text.formatted(topic) + "; the broker does not answer");
  }

  private String topic(int i) {
    ProducerRecord<byte[], byte[]> record = prepared.get(i);
    return record == null ? messages.get(i).message().aggregateType() : record.topic();
  }

  private void sample() {
    if (ear != null) {
      ear.listen();
    }
  }

  private boolean answers() {
    return ear != null && ear.heardWithin(timing.silence());
  }

  private long elapsed() {
    return System.nanoTime() - start;
  }

  /** Whether less than so many nanoseconds are left until the deadline. */
  private boolean late(long reserve) {
    return elapsed() > timing.deadline() - reserve;
  }
}
