package dev.outbox.publisher.nats;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.core.Outcome;
import dev.outbox.publisher.core.Reconnecting;
import dev.outbox.publisher.core.Reconnecting.NoConnectionException;
import dev.outbox.publisher.core.SilentPlaces;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.api.PublishAck;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call. Of each key one message is without acknowledgement, and the next one is sent when that
 * was acknowledged (P2): a server may refuse one message and take the next. All keys are sent
 * together. Only the calling thread sends and decides; the client's threads report.
 */
final class Call {
  private static final long CHECK_EVERY = TimeUnit.MILLISECONDS.toNanos(50);

  private final Parts parts;
  private final Timing timing;
  private final Outcome<Run> outcome;
  private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
  private final Set<Run> inFlight = new LinkedHashSet<>();

  /** Their place was silent; a message is on its way there, and what becomes of it decides. */
  private final Set<Run> waiting = new LinkedHashSet<>();

  private final long end;

  /** After the client's queue was full the call sends nothing more; what is on its way goes on. */
  private @Nullable Result isFull;

  /** What all calls share. */
  record Parts(
      Reconnecting<Link> links,
      Mapping mapping,
      Timing timing,
      SilentPlaces<String> quiet,
      String address) {}

  /** What came of the message that a key has on its way. */
  private record Report(Run run, @Nullable Result delivered, @Nullable Throwable error) {}

  Call(Parts parts, List<StoredMessage> messages) {
    this.parts = parts;
    timing = parts.timing();
    outcome = new Outcome<>(messages, Run::new);
    end = System.nanoTime() + timing.call();
  }

  List<Result> run() throws InterruptedException {
    try {
      publish(parts.links().get(timing.patience()));
    } catch (NoConnectionException e) {
      stopAll("no connection to %s: %s".formatted(parts.address(), e.getMessage()));
    } finally {
      inFlight.forEach(Run::leave);
    }
    return outcome.results();
  }

  private void publish(Link link) throws InterruptedException {
    for (Run run : outcome.runs()) {
      if (System.nanoTime() - end < 0) { // a slow server may take long for each
        run.send(link);
      }
    }
    long check = System.nanoTime() + CHECK_EVERY;
    while (!outcome.isComplete()) {
      long now = System.nanoTime();
      if (now - end >= 0 && isFull != null) {
        // What still waits in the client's queue must not go out later.
        lost(link, "takes messages too slowly");
      } else if (now - end >= 0) {
        hearWhatCame();
        stopAll(
            "the call's time went by with the messages before it: give the relay a smaller batchSize");
      } else if (now - check >= 0) {
        checkSilence(link);
        check = System.nanoTime() + CHECK_EVERY;
      } else {
        Report report = reports.poll(check - now, TimeUnit.NANOSECONDS);
        if (report != null) {
          report.run.heard(report, link);
        }
      }
    }
  }

  /**
   * When a message is without acknowledgement for too long, the server is asked for a sign of life.
   * If it gives one, the place is to blame: no leader, or somebody listens there who is no stream.
   */
  private void checkSilence(Link link) throws InterruptedException {
    long now = System.nanoTime();
    List<Run> silent = inFlight.stream().filter(run -> now - run.since > run.patience()).toList();
    if (silent.isEmpty()) {
      return;
    }
    if (!link.answers(Duration.ofNanos(timing.sign()))) {
      lost(link, "the server does not answer");
      return;
    }
    for (Run run : silent) {
      run.giveUp();
    }
  }

  /** Whether a message is on its way there: to a place that was silent, one is enough. */
  private boolean isTried(String place) {
    return inFlight.stream().anyMatch(run -> run.place.equals(place));
  }

  /** That message's end is known. */
  private void release(String place, Consumer<Run> then) {
    List<Run> there = waiting.stream().filter(run -> run.place.equals(place)).toList();
    waiting.removeAll(there);
    there.forEach(then);
  }

  private static Result notAcknowledged(String place) {
    return Result.unavailable(
        "%s: no acknowledgement, though the server answers: it needs a stream with a leader"
            .formatted(place),
        place);
  }

  /** The connection is of no use any more, and nothing is awaited from it. */
  private void lost(Link link, String why) {
    parts.links().drop(link);
    inFlight.clear();
    stopAll("%s: %s".formatted(parts.address(), why));
  }

  /** What was delivered until now, without sending more. */
  private void hearWhatCame() {
    for (Report report = reports.poll(); report != null; report = reports.poll()) {
      if (report.error == null && inFlight.remove(report.run)) {
        outcome.delivered(report.run, requireNonNull(report.delivered));
      }
    }
  }

  private void stopAll(String error) {
    outcome.decideAll(Result.unavailable(error));
  }

  /** The messages of one key, in order. */
  private final class Run extends KeyRun<KeyRun.Item> {
    private String subject = "";
    private String place = "";
    private long since;
    private SilentPlaces<String>.@Nullable Passage way;

    @Override
    protected Item newItem(int index, int position, StoredMessage message) {
      return new Item(index, position, message);
    }

    @Override
    protected String destination(Item item) {
      return place;
    }

    /** Sends the next one; what cannot be sent ends the run, without holding up others. */
    void send(Link link) {
      if (!isOpen()) {
        return;
      }
      if (isFull != null) {
        stop(isFull);
        return;
      }
      StoredMessage message = item(delivered()).message();
      place = message.message().aggregateType();
      Mapping.Outgoing outgoing;
      try {
        outgoing = parts.mapping().of(message);
      } catch (Destination.MissingException e) {
        stop(e.result());
        return;
      } catch (IllegalArgumentException e) {
        stop(Result.rejected(String.valueOf(e.getMessage())));
        return;
      }
      subject = outgoing.subject();
      place = outgoing.place();
      Result known = parts.quiet().known(message);
      if (known instanceof Result.Delivered) { // after its call had given up on it
        outcome.delivered(this, known);
        send(link);
        return;
      }
      if (known != null) {
        stop(known);
        return;
      }
      if (parts.quiet().isStuck(place) && parts.quiet().isSlow(place)) {
        stop(notAcknowledged(place));
        return;
      }
      if (parts.quiet().isSlow(place) && isTried(place)) {
        waiting.add(this);
        return;
      }
      long most = link.maxPayload();
      if (most > 0 && outgoing.size() > most) {
        stop(
            Result.rejected(
                "%s: the message has %s bytes with its headers, the server's max_payload is %s"
                    .formatted(subject, outgoing.size(), most)));
        return;
      }
      give(link, outgoing);
    }

    private void give(Link link, Mapping.Outgoing outgoing) {
      String to = place;
      SilentPlaces<String>.Passage passage = parts.quiet().begin(to);
      CompletableFuture<PublishAck> ack;
      way = passage;
      since = System.nanoTime();
      inFlight.add(this);
      try {
        ack = link.send(outgoing);
      } catch (IllegalStateException e) {
        String why = String.valueOf(e.getMessage());
        if (link.isOpen()) {
          isFull =
              Result.unavailable(
                  "%s takes messages too slowly: %s".formatted(parts.address(), why));
          stop(isFull);
        } else {
          lost(link, why);
        }
        return;
      } catch (RuntimeException e) {
        stop(UndeliveredResults.result(e, subject, place));
        return;
      }
      CompletableFuture<?> unused =
          ack.whenComplete(
              (stored, error) -> {
                if (error == null) {
                  parts.quiet().acknowledged(to); // also when nobody waits for it any more
                }
                Result delivered = error == null ? stored(stored) : null;
                if (passage.end(delivered)) {
                  reports.add(new Report(this, delivered, error));
                }
              });
    }

    void heard(Report report, Link link) {
      inFlight.remove(this);
      if (report.error == null) {
        outcome.delivered(this, requireNonNull(report.delivered));
        release(place, run -> run.send(link));
        send(link);
        return;
      }
      Throwable cause = UndeliveredResults.cause(report.error);
      if (cause instanceof CancellationException || cause instanceof IllegalStateException) {
        lost(link, "the connection was lost");
      } else if (cause instanceof Link.NoPermissionException e && e.everywhere) {
        lost(link, String.valueOf(e.getMessage()));
      } else {
        Result result = UndeliveredResults.result(cause, subject, place);
        boolean placesFault = result instanceof Result.Unavailable;
        stop(result);
        release(place, placesFault ? run -> run.stop(result) : run -> run.send(link));
      }
    }

    /** As {@code ORDERS@1742}: the stream, and the message's sequence in it. */
    private static Result stored(@Nullable PublishAck stored) {
      return stored == null
          ? Result.delivered()
          : Result.delivered(() -> stored.getStream() + "@" + stored.getSeqno());
    }

    long patience() {
      return parts.quiet().patience(place);
    }

    /** An acknowledgement may still come; false when it has come. */
    boolean leave() {
      return way != null && way.leave(item(delivered()).message(), place);
    }

    /** The place is silent. */
    void giveUp() {
      if (leave()) {
        parts.quiet().slow(place);
        Result result = notAcknowledged(place);
        stop(result);
        release(place, run -> run.stop(result));
      }
    }

    /** Decides a message that was not delivered, and with it those behind it (P2). */
    void stop(Result result) {
      inFlight.remove(this);
      outcome.decide(this, delivered(), result);
    }
  }
}
