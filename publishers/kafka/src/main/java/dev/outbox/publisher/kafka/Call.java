package dev.outbox.publisher.kafka;

import static java.util.stream.Collectors.groupingBy;

import dev.outbox.publisher.core.Outcome;
import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.publisher.kafka.Run.Item;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One call. All its records are given to the producer at once; it has one request in flight, so the
 * records of a key go to its partition in order. When one fails, those behind it must not get
 * through:
 *
 * <ol>
 *   <li>the callback, which runs in the producer's only sending thread, closes the producer when
 *       later records of that key were given to it. That thread sends no further request. What it
 *       handed to the network before may still arrive. These are records of other partitions,
 *       because in this partition the request that failed was the one in flight;
 *   <li>the call gives that message its result, and does not send the later ones of its key. All
 *       other records that went down with the producer are sent again through a new one;
 *   <li>for a while {@link Topics} calls that topic's records risky: of each key, only one at a
 *       time is in flight, so that failures cost no producer.
 * </ol>
 *
 * <p>Only the calling thread sends; callbacks report. Nothing blocks but the wait for reports, and
 * for a producer that is being made.
 */
final class Call {
  private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long CHECK_EVERY = TimeUnit.MILLISECONDS.toNanos(50);

  private final ProducerHolder producer;
  private final ProducerHolder singles;
  private final BiConsumer<StoredMessage, Runnable> aroundSend;
  private final Topics topics;
  private final SilentPlaces<Place> places;
  private final Timing timing;
  private final Outcome<Run> outcome;
  private final long start = System.nanoTime();
  private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
  private final Set<Sending> inFlight = new LinkedHashSet<>();
  private Set<Run> toSend = new LinkedHashSet<>();
  private long nextCheck = start + CHECK_EVERY;
  private boolean noRoom;
  private final Liveness liveness;
  private final Lookup lookup;

  private record Report(Sending sending, @Nullable Result delivered, @Nullable Exception error) {}

  Call(
      ProducerHolder producer,
      ProducerHolder singles,
      PublisherParts parts,
      List<StoredMessage> messages) {
    this.producer = producer;
    this.singles = singles;
    this.aroundSend = parts.records().aroundSend();
    this.topics = parts.topics();
    this.places = parts.places();
    this.timing = parts.timing();
    this.outcome = new Outcome<>(messages, Run::new);
    this.liveness = new Liveness(parts.cluster(), timing);
    this.lookup = new Lookup(parts, liveness);
    toSend.addAll(outcome.runs());
  }

  List<Result> run() throws InterruptedException {
    try {
      while (true) {
        sendAll(connect());
        if (outcome.isComplete() && inFlight.isEmpty()) {
          return outcome.results();
        }
        Report report =
            reports.poll(toSend.isEmpty() ? CHECK_EVERY : LOOK_AGAIN, TimeUnit.NANOSECONDS);
        for (; report != null; report = reports.poll()) {
          ended(report.sending(), report.delivered(), report.error());
        }
        giveUpOnLate();
      }
    } catch (InterruptException e) {
      boolean ignored = Thread.interrupted();
      throw new InterruptedException("interrupted while publishing to Kafka");
    } catch (NoConnectionException e) {
      outcome.decideAll(Result.unavailable(String.valueOf(e.getMessage())));
      return outcome.results();
    } finally {
      inFlight.forEach(Sending::leave);
    }
  }

  /**
   * The producer in use, which is another one when the last has been closed. Each record ends
   * within the timeout, unless an error such as a lack of memory has ended the producer's sending
   * thread.
   */
  private Connection connect() throws NoConnectionException, InterruptedException {
    if (places.forgetLost()) {
      producer.discard();
      singles.discard();
    }
    Connection current = producer.get(timeLeft());
    liveness.listen(current);
    return current;
  }

  private long timeLeft() {
    return Math.max(0, start + timing.deadline() - System.nanoTime());
  }

  private void sendAll(Connection via) throws NoConnectionException, InterruptedException {
    lookup.refresh();
    Set<Run> now = toSend;
    toSend = new LinkedHashSet<>();
    noRoom = false;
    for (Run run : now) {
      while (!noRoom && run.next < run.end() && sendNext(run, via)) {}
      if (noRoom && run.next < run.end()) {
        toSend.add(run); // when something has left the buffer, or a moment later
      }
    }
  }

  /**
   * Sends the key's next message if it can; returns whether the one after it may follow at once.
   */
  private boolean sendNext(Run run, Connection via)
      throws NoConnectionException, InterruptedException {
    Item item = run.item(run.next);
    Connection through = item.alone ? singles.get(timeLeft()) : via;
    Topics.Found is = lookup.find(item, through);
    if (run.inFlight > 0 && !(is instanceof Topics.Found.Ready && mayFollow(item, through))) {
      return false; // the reports of what is in flight lead back here
    }
    if (is instanceof Topics.Found.Refused refused) {
      outcome.decide(run, item.position(), refused.result());
      return false;
    }
    if (is instanceof Topics.Found.Pending) {
      toSend.add(run);
      return false;
    }
    Result known = run.inFlight == 0 ? places.known(item.message()) : null;
    if (known instanceof Result.Delivered) { // after its call had given up on it
      run.next++;
      outcome.delivered(run, known);
      return true;
    }
    if (known != null) {
      outcome.decide(run, item.position(), known);
      return false;
    }
    send(item, through);
    return !run.current.failed && !noRoom;
  }

  /**
   * Whether the message may be in flight behind the one before it: only where both go to one
   * partition and through one producer.
   */
  private boolean mayFollow(Item item, Connection via) {
    Item before = item.run.item(item.position() - 1);
    Place place = item.place();
    return place.equals(before.place()) && item.run.via == via && !topics.isRisky(place.topic());
  }

  private void send(Item item, Connection via) {
    Run run = item.run;
    run.current.handedOver = item.position();
    if (run.current.failed) {
      return;
    }
    if (run.inFlight == 0) {
      run.since = System.nanoTime();
    }
    Sending sending = new Sending(item, via, places);
    run.via = via;
    run.next++;
    run.inFlight++;
    inFlight.add(sending);
    try {
      aroundSend.accept(
          item.message(),
          () -> {
            var unused =
                via.producer()
                    .send(item.record, (stored, error) -> completed(sending, stored, error));
          });
      if (sending.noRoom) {
        undo(sending);
        noRoom = true;
      }
    } catch (InterruptException e) {
      undo(sending);
      throw e;
    } catch (KafkaException | IllegalStateException e) {
      completed(sending, null, e);
    } catch (RuntimeException e) { // of aroundSend
      undo(sending);
      throw e;
    } catch (Error e) {
      undo(sending);
      boolean ignored = via.retire(); // nobody knows in which state that left it
      throw e;
    }
  }

  private void undo(Sending sending) {
    Run run = sending.item.run;
    sending.way.undo();
    inFlight.remove(sending);
    run.inFlight--;
    run.next--;
  }

  /**
   * The callback: in the producer's thread, or in the caller's when the producer refuses a record.
   */
  private void completed(
      Sending sending, @Nullable RecordMetadata stored, @Nullable Exception error) {
    Connection via = sending.via;
    if (error instanceof BufferExhaustedException) { // in the caller's
      sending.noRoom = true;
      return;
    }
    if (error == null) {
      via.acknowledged();
    } else {
      sending.partOf.failed = true;
      if (sending.partOf.handedOver > sending.item.position() && via.retire()) {
        topics.risky(sending.place.topic());
      }
      if (error instanceof TimeoutException && !via.hasAcknowledged()) {
        boolean ignored = via.retire(); // it may wait for something that never comes
      }
    }
    Result delivered = error == null ? KafkaResults.delivered(stored) : null;
    if (sending.way.end(delivered)) {
      reports.add(new Report(sending, delivered, error));
    }
  }

  private void ended(Sending sending, @Nullable Result delivered, @Nullable Exception error) {
    Item item = sending.item;
    Run run = item.run;
    inFlight.remove(sending);
    run.inFlight--;
    if (item.position() < run.end()) {
      if (delivered != null && item.position() == run.delivered()) {
        places.acknowledged(sending.place);
        outcome.delivered(run, delivered);
        run.since = System.nanoTime();
      } else if (error == null || goesAgain(sending, error)) {
        run.again = true;
      } else {
        outcome.decide(run, item.position(), resultOf(sending, error));
      }
    }
    landed(run);
  }

  /** Goes on with a key of which nothing is in flight any more. */
  private void landed(Run run) {
    if (run.inFlight == 0) {
      if (run.again) {
        run.rewind();
      }
      toSend.add(run);
    }
  }

  /** Whether a record is sent again in this call: it failed because of something else. */
  private static boolean goesAgain(Sending sending, Exception error) {
    Item item = sending.item;
    if (error instanceof RecordBatchTooLargeException && !item.alone) {
      item.alone = true;
      return true;
    }
    boolean generic = KafkaResults.isGeneric(error) || error instanceof IllegalStateException;
    if (generic && !sending.via.isCurrent()) {
      return true; // it went down with its producer
    }
    boolean again = generic && !KafkaResults.isProducersFault(error) && !item.suspected;
    item.suspected |= again; // as when another record of its batch is invalid
    return again;
  }

  private Result resultOf(Sending sending, Exception error) {
    Result result = liveness.result(error, sending.place);
    if (KafkaResults.isProducersFault(error)) {
      sending.via.giveUp(error);
      outcome.decideAll(result);
    } else if (result instanceof Result.Unavailable u && u.destination() != null) {
      places.slow(sending.place);
    }
    return result;
  }

  /** Gives up on places that take too long while the broker answers, at the deadline on all. */
  private void giveUpOnLate() {
    long now = System.nanoTime();
    if (now - nextCheck < 0) {
      return;
    }
    nextCheck = now + CHECK_EVERY;
    boolean over = now - start >= timing.deadline();
    Map<Run, List<Sending>> sent = inFlight.stream().collect(groupingBy(one -> one.item.run));
    for (Run run : outcome.runs()) {
      if (run.isOpen() && (over || isLate(run, now))) {
        if (run.inFlight > 0) {
          leave(run, sent.getOrDefault(run, List.of()));
        } else {
          Place place = run.item(run.delivered()).place();
          outcome.decide(run, run.delivered(), liveness.noAnswer(place));
        }
      }
    }
  }

  private boolean isLate(Run run, long now) {
    return liveness.answers()
        && now - run.since >= places.patience(run.item(run.delivered()).place());
  }

  /** Leaves all of a key that is in flight to its callbacks. */
  private void leave(Run run, List<Sending> sent) {
    int from = run.end();
    for (Sending sending : sent) {
      if (sending.leave()) {
        inFlight.remove(sending);
        run.inFlight--;
        from = Math.min(from, sending.item.position());
      }
    }
    if (from < run.end()) {
      Place place = run.item(from).place();
      if (liveness.answers()) {
        places.slow(place);
      }
      outcome.decide(run, from, liveness.outOfReach(place, "not acknowledged in time"));
    }
    landed(run);
  }
}
