package dev.outbox.publisher.nats;

import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.core.SideBySide;
import dev.outbox.publisher.core.Unanswered;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.nats.client.api.PublishAck;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call. Of each key one message is without acknowledgement, as {@link SideBySide} says: a
 * server may refuse one message and take the next. What follows an acknowledgement is done in the
 * client's thread that has read it. When nothing was acknowledged for a while, the server is asked
 * for a sign of life. If it gives one, the rest is left to {@link Unanswered}: there is no leader,
 * or somebody listens who is no stream.
 */
final class Call {
  private static final Result NO_TIME =
      Result.unavailable(
          "not sent, because the call's time went by with the messages before it: give the relay a smaller batchSize");

  private final Parts parts;
  private final Timing timing;
  private final Link link;
  private final SideBySide call;
  private final long start;

  /** When the server last said something about a message of this call. */
  private volatile long heard;

  /** When the server last gave a sign of life; used by the calling thread. */
  private long answered;

  /** What messages get that are not sent any more; those on their way go on. */
  private volatile @Nullable Result full;

  /** What all messages get. */
  private volatile @Nullable Result lost;

  /** What all calls share. */
  record Parts(
      Links links, Mapping mapping, Timing timing, Unanswered unanswered, String address) {}

  /** A message on its way. */
  private record Sent(String place, CompletableFuture<Result> result) {}

  private Call(Parts parts, Link link, long start, List<StoredMessage> messages) {
    this.parts = parts;
    this.link = link;
    this.start = start;
    timing = parts.timing();
    heard = System.nanoTime();
    answered = heard;
    call = new SideBySide(messages, start + timing.call(), Run::new);
  }

  static List<Result> publish(Parts parts, List<StoredMessage> messages)
      throws InterruptedException {
    long start = System.nanoTime();
    try {
      Link link = parts.links().get(parts.timing().connection());
      return new Call(parts, link, start, messages).call.results();
    } catch (Links.NoLinkException e) {
      String error = "no connection to %s: %s".formatted(parts.address(), e.getMessage());
      return Collections.nCopies(messages.size(), Result.unavailable(error));
    }
  }

  private long patience(long now) {
    return timing.patience() - (now - heard);
  }

  /** Asks for a sign of life, unless something was heard lately; used by the calling thread. */
  private boolean isSilent() {
    long now = System.nanoTime();
    if (patience(now) > 0 || now - answered < timing.patience()) {
      return false;
    }
    try {
      long left = Math.min(timing.sign(), start + timing.last() - now);
      boolean answers = link.answers(Duration.ofNanos(Math.max(1_000_000, left)));
      answered = answers ? System.nanoTime() : answered;
      return !answers;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // ends the call
      return false;
    }
  }

  /** The connection is of no use any more. */
  private Result lost(String why) {
    Result all = Result.unavailable("%s: %s".formatted(parts.address(), why));
    lost = all;
    parts.links().drop(link);
    return all;
  }

  private Result full(String why) {
    Result rest =
        Result.unavailable("%s takes messages too slowly: %s".formatted(parts.address(), why));
    full = rest;
    return rest;
  }

  /** What messages get that are not on their way; null: they are sent. */
  private @Nullable Result over() {
    Result all = lost;
    return all == null ? full : all;
  }

  /** As {@code ORDERS@1742}: the stream, and the message's sequence in it. */
  private static Result stored(PublishAck stored) {
    return Result.delivered(() -> stored.getStream() + "@" + stored.getSeqno());
  }

  /** The messages of one key, in order. */
  private final class Run extends SideBySide.Run<KeyRun.Item, Sent> {
    private volatile @Nullable String place;

    private Run(SideBySide call) {
      super(call);
    }

    @Override
    protected Item newItem(int index, int position, StoredMessage message) {
      return new Item(index, position, message);
    }

    @Override
    protected String destination(Item item) {
      String known = place;
      return known == null ? super.destination(item) : known;
    }

    @Override
    protected @Nullable Result begin(Item item) {
      Result over = over();
      Result known = over == null ? parts.unanswered().of(item.message()) : over;
      if (known != null) {
        return known;
      }
      Mapping.Outgoing outgoing;
      try {
        outgoing = parts.mapping().of(item.message());
      } catch (Destination.MissingException e) {
        return e.result();
      } catch (IllegalArgumentException e) {
        return Result.rejected(String.valueOf(e.getMessage()));
      }
      String to = Subjects.place(outgoing.subject());
      place = to;
      long most = link.maxPayload();
      if (most > 0 && outgoing.size() > most) {
        return Result.rejected(
            "%s: the message has %s bytes with its headers, the server's max_payload is %s"
                .formatted(outgoing.subject(), outgoing.size(), most));
      }
      Sent sent = new Sent(to, new CompletableFuture<>());
      if (isBegun(sent)) {
        send(outgoing, sent.result);
        CompletableFuture<?> unused = sent.result.thenAccept(this::ended);
      }
      return null;
    }

    @Override
    protected long patience(@Nullable Sent current, long now) {
      return Call.this.patience(now);
    }

    @Override
    protected Result left(Item item, @Nullable Sent current) {
      Result all = lost;
      if (current != null && all == null && isSilent()) {
        all = lost("the server does not answer");
      }
      return all == null ? interrupted(item, current) : all;
    }

    /** The answer may come until the publisher's timeout is over. */
    @Override
    protected Result interrupted(Item item, @Nullable Sent current) {
      if (current == null) {
        Result over = over();
        return over == null ? NO_TIME : over;
      }
      long left = start + timing.timeout() - System.nanoTime();
      return parts
          .unanswered()
          .leave(
              item.message(), current.place, current.result.orTimeout(left, TimeUnit.NANOSECONDS));
    }
  }

  private void send(Mapping.Outgoing outgoing, CompletableFuture<Result> result) {
    try {
      CompletableFuture<?> unused =
          link.send(outgoing)
              .whenComplete(
                  (stored, error) -> {
                    if (!result.isDone()) { // otherwise the client gives it up, long after the call
                      heard = System.nanoTime();
                      boolean ignored =
                          result.complete(
                              error == null ? stored(stored) : undelivered(error, outgoing));
                    }
                  });
    } catch (IllegalStateException e) {
      String why = String.valueOf(e.getMessage());
      boolean ignored = result.complete(link.isOpen() ? full(why) : lost(why));
    } catch (RuntimeException e) {
      boolean ignored = result.complete(undelivered(e, outgoing));
    }
  }

  private Result undelivered(Throwable error, Mapping.Outgoing outgoing) {
    Throwable cause = UndeliveredResults.cause(error);
    if (cause instanceof CancellationException || cause instanceof IllegalStateException) {
      return lost("the connection was lost");
    }
    if (cause instanceof Link.NoPermissionException e && e.everywhere) {
      return lost(String.valueOf(e.getMessage()));
    }
    return UndeliveredResults.result(cause, outgoing.subject());
  }
}
