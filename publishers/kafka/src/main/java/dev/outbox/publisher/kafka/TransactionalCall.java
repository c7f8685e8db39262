package dev.outbox.publisher.kafka;

import dev.outbox.OutboxException;
import dev.outbox.publisher.core.Outcome;
import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.publisher.kafka.Run.Item;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.jspecify.annotations.Nullable;

/**
 * One call in the transactional mode:
 *
 * <ol>
 *   <li>messages without a topic that exists are decided beforehand;
 *   <li>the others are sent in one transaction, which is committed when all were acknowledged;
 *   <li>when one was not, the transaction is aborted. The culprits get their results, later
 *       messages of their keys are not sent, and the rest is sent again in a new transaction.
 * </ol>
 *
 * <p>A producer that hangs or fails is given up at once. A commit whose answer did not come may
 * have happened: its messages are delivered again then, in order.
 */
final class TransactionalCall {
  private static final long LOOK_AGAIN_MILLIS = 5;
  private static final long CHECK_MILLIS = 50;

  private final ProducerHolder lookups;
  private final TransactionalProducer slot;
  private final Records records;
  private final SilentPlaces<Place> places;
  private final Timing timing;
  private final Outcome<Run> outcome;
  private final Liveness liveness;
  private final Lookup lookup;
  private final long start = System.nanoTime();

  /** The end of one record's way. */
  private record Report(Item item, @Nullable RecordMetadata stored, @Nullable Exception error) {}

  TransactionalCall(
      ProducerHolder lookups,
      TransactionalProducer slot,
      PublisherParts parts,
      List<StoredMessage> messages) {
    this.lookups = lookups;
    this.slot = slot;
    this.records = parts.records();
    this.places = parts.places();
    this.timing = parts.timing();
    this.outcome = new Outcome<>(messages, Run::new);
    this.liveness = new Liveness(parts.cluster(), timing);
    this.lookup = new Lookup(parts, liveness);
  }

  List<Result> run() throws InterruptedException {
    try {
      prepare();
      while (!outcome.isComplete()) {
        List<Item> open = open();
        if (late(3 * timing.block())) {
          open.forEach(item -> decide(item, liveness.outOfReach(item.place(), "no time left")));
        } else {
          transact(together(open));
        }
      }
    } catch (InterruptException e) {
      boolean ignored = Thread.interrupted();
      slot.retire();
      throw new InterruptedException("interrupted while publishing to Kafka");
    } catch (InterruptedException e) {
      slot.retire();
      throw e;
    } catch (OutboxException e) { // no producer
      outcome.decideAll(Result.unavailable(String.valueOf(e.getMessage())));
    } catch (RuntimeException | Error e) { // of the user's partitioner or aroundSend, or no memory
      slot.abortOrRetire(e instanceof RuntimeException);
      throw e;
    }
    return outcome.results();
  }

  /** The messages without a result, in their order. */
  private List<Item> open() {
    return outcome.runs().stream()
        .flatMap(run -> run.open().stream())
        .sorted(Comparator.comparingInt(Item::index))
        .toList();
  }

  /** What goes in one transaction: all, but for those whose batch was too large. */
  private static List<Item> together(List<Item> open) {
    int alone = 0;
    while (alone < open.size() && !open.get(alone).alone) {
      alone++;
    }
    return open.subList(0, Math.max(1, alone));
  }

  /** Makes the records, and waits until it is known of each topic whether it exists. */
  private void prepare() throws InterruptedException {
    while (true) {
      Connection connection = lookups.get(timeLeft());
      liveness.listen(connection);
      lookup.refresh();
      boolean pending = false;
      boolean over =
          late(3 * timing.block()) || (liveness.answers() && elapsed() > timing.patience());
      for (Item item : open()) {
        Topics.Found is = item.position() < item.run.end() ? lookup.find(item, connection) : null;
        if (is instanceof Topics.Found.Refused refused) {
          decide(item, refused.result());
        } else if (is instanceof Topics.Found.Pending && over) {
          decide(item, liveness.noAnswer(item.place()));
        } else {
          pending |= is instanceof Topics.Found.Pending;
        }
      }
      if (!pending) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
    }
  }

  private void transact(List<Item> batch) throws InterruptedException {
    BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
    Map<Item, RecordMetadata> stored = new HashMap<>();
    Map<Item, Exception> errors = new LinkedHashMap<>();
    RuntimeException failure = null;
    try {
      Connection connection = slot.ready(timeLeft());
      liveness.listen(connection);
      connection.producer().beginTransaction();
      if (sendAll(connection.producer(), batch, reports)
          && awaitAll(connection, batch, reports, stored, errors)) {
        connection.producer().commitTransaction();
        connection.acknowledged();
        for (Item item : batch) {
          places.acknowledged(item.place());
          outcome.delivered(item.run, KafkaResults.delivered(stored.get(item)));
        }
        return;
      }
      connection.producer().abortTransaction();
    } catch (InterruptException e) {
      throw e;
    } catch (KafkaException | IllegalStateException e) {
      failure = e;
      slot.failed(e, !late(timing.block()));
    }
    for (Report report = reports.poll(); report != null; report = reports.poll()) {
      note(report, errors);
    }
    blame(batch, errors, failure);
  }

  /** Returns whether all could be handed to the producer. */
  private boolean sendAll(
      Producer<byte[], byte[]> producer, List<Item> batch, BlockingQueue<Report> reports) {
    for (Item item : batch) {
      if (late(2 * timing.block())) {
        return false;
      }
      records.send(
          item.message(),
          () -> {
            var unused =
                producer.send(
                    item.record, (stored, error) -> reports.add(new Report(item, stored, error)));
          });
    }
    return true;
  }

  /**
   * Waits for the acknowledgements; returns whether all came. Errors are noted, and an error that
   * is not worth noting is no acknowledgement either.
   */
  private boolean awaitAll(
      Connection connection,
      List<Item> batch,
      BlockingQueue<Report> reports,
      Map<Item, RecordMetadata> stored,
      Map<Item, Exception> errors)
      throws InterruptedException {
    Set<Item> waiting = new HashSet<>(batch);
    long since = System.nanoTime();
    boolean failed = false;
    while (!waiting.isEmpty() && !failed && !late(timing.block())) {
      liveness.listen(connection);
      Report report = reports.poll(CHECK_MILLIS, TimeUnit.MILLISECONDS);
      for (; report != null; report = reports.poll()) {
        waiting.remove(report.item());
        if (report.stored() != null) {
          stored.put(report.item(), report.stored());
        }
        failed |= report.error() != null;
        note(report, errors);
      }
      long waited = System.nanoTime() - since;
      for (Item item : waiting) {
        if (liveness.answers() && waited > places.patience(item.place())) {
          failed = true;
          errors.put(item, new TimeoutException("not acknowledged in time"));
        }
      }
    }
    return waiting.isEmpty() && !failed;
  }

  /** Notes an error unless it only follows from another one. */
  private static void note(Report report, Map<Item, Exception> errors) {
    Exception error = report.error();
    if (error != null
        && !(KafkaResults.isGeneric(error) && !KafkaResults.isProducersFault(error))
        && !(error instanceof TransactionAbortedException)
        && !(error instanceof TransactionAbortableException)) {
      errors.putIfAbsent(report.item(), error);
    }
  }

  /** Gives the culprits their results; without one, the transaction as such did not work. */
  private void blame(
      List<Item> batch, Map<Item, Exception> errors, @Nullable RuntimeException failure) {
    errors.forEach((item, error) -> blame(item, error, batch.size()));
    if (errors.isEmpty() && failure != null) {
      Result result = Result.unavailable("the transaction did not work: " + failure);
      batch.forEach(item -> decide(item, result));
    } else if (errors.isEmpty()) {
      batch.forEach(item -> decide(item, liveness.outOfReach(item.place(), "transaction aborted")));
    }
  }

  private void blame(Item item, Exception error, int together) {
    if (error instanceof RecordBatchTooLargeException && together > 1) {
      item.alone = true;
      return;
    }
    Result result = liveness.result(error, item.place());
    if (KafkaResults.isProducersFault(error)) {
      slot.failed(error, false);
    }
    if (result instanceof Result.Unavailable u && u.destination() == null) {
      outcome.decideAll(result);
    } else {
      if (result instanceof Result.Unavailable) {
        places.slow(item.place());
      }
      decide(item, result);
    }
  }

  private void decide(Item item, Result result) {
    outcome.decide(item.run, item.position(), result);
  }

  private long elapsed() {
    return System.nanoTime() - start;
  }

  private long timeLeft() {
    return Math.max(0, timing.deadline() - elapsed());
  }

  /** Whether less than so many nanoseconds are left until the deadline. */
  private boolean late(long reserve) {
    return elapsed() > timing.deadline() - reserve;
  }
}
