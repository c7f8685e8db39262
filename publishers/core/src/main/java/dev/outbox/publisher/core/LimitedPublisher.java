package dev.outbox.publisher.core;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A publisher that gets no more messages in a time than a {@link Rate} says, whatever the number of
 * the relay's workers. Safe for use by many threads; closes its publisher.
 *
 * <p>It never waits: a message over its limit is unavailable, with the time after which it has its
 * turn, and so are those of its key behind it (P2). All others go on. No attempt is counted.
 *
 * <p>A limit is this object's: two relays have two. After a pause up to twice the rate may be sent
 * within one period. Every try counts, whatever comes of it; but a message that comes for the
 * answer to what was sent before ({@link Unanswered}) does not.
 */
public final class LimitedPublisher implements MessagePublisher {

  /** What says a publisher's rate in the properties of a relay; with a dot and a type, its rate. */
  public static final String PROPERTY = "rate";

  private final MessagePublisher publisher;
  private final List<Limit> limits;
  private final LongSupplier clock;

  private record Limit(String name, Rate rate, Predicate<StoredMessage> takes, Turns turns) {

    /** Why a message does not go now; null when it does. */
    @Nullable Result refusal(StoredMessage message, long now) {
      long wait = turns.await(message, now);
      return wait == 0
          ? null
          : new Result.Unavailable(
              "waits for its turn: the limit of %s is %s".formatted(name, rate),
              "the limit of " + name,
              Duration.ofNanos(wait));
    }
  }

  private LimitedPublisher(MessagePublisher publisher, List<Limit> limits, LongSupplier clock) {
    this.publisher = publisher;
    this.limits = limits;
    this.clock = clock;
  }

  /** Starts without limits. */
  public static Builder builder(MessagePublisher publisher) {
    return new Builder(publisher);
  }

  /**
   * Limits a publisher as settings say.
   *
   * @param rate of all messages without a rate of their own, together; null: they have no limit
   * @param rates of the messages of each type; as {@link Rate#parse} reads them
   * @param type of a message: its aggregate type, or its event type
   * @return the publisher itself when there is no rate
   * @throws IllegalArgumentException naming the rate; the publisher is closed then
   */
  public static MessagePublisher of(
      MessagePublisher publisher,
      @Nullable String rate,
      Map<String, String> rates,
      Function<StoredMessage, String> type) {
    Builder limited = builder(publisher);
    try {
      rates.forEach(
          (one, text) ->
              limited.limit(one, Rate.parse(text), message -> type.apply(message).equals(one)));
      if (rate != null) {
        limited.limit("all others", Rate.parse(rate), message -> true);
      }
    } catch (IllegalArgumentException e) {
      publisher.close();
      throw e;
    }
    return limited.limits.isEmpty() ? publisher : limited.build();
  }

  /**
   * Publishes those whose turn it is, in one call.
   *
   * @throws IllegalStateException when the publisher gives a wrong number of results
   */
  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    @Nullable Result[] results = new Result[messages.size()];
    Map<String, Integer> stopped = new HashMap<>();
    Map<Integer, Optional<Limit>> going = new LinkedHashMap<>();
    for (int i = 0; i < results.length; i++) {
      StoredMessage message = messages.get(i);
      Integer earlier = stopped.get(message.key());
      if (earlier != null) {
        Result why = requireNonNull(results[earlier]);
        results[i] = Result.notSent(messages.get(earlier), why, message.key());
        continue;
      }
      Optional<Limit> limit = limits.stream().filter(one -> one.takes.test(message)).findFirst();
      results[i] = limit.map(one -> one.refusal(message, clock.getAsLong())).orElse(null);
      if (results[i] == null) {
        going.put(i, limit);
      } else {
        stopped.put(message.key(), i);
      }
    }
    if (!going.isEmpty()) {
      publish(messages, going, results);
    }
    return Arrays.asList(results);
  }

  private void publish(
      List<StoredMessage> messages, Map<Integer, Optional<Limit>> going, @Nullable Result[] results)
      throws InterruptedException {
    List<Result> given;
    try {
      given = publisher.publish(going.keySet().stream().map(messages::get).toList());
      if (given.size() != going.size()) {
        throw new IllegalStateException(
            "publish returned %s results for %s messages (P1)"
                .formatted(given.size(), going.size()));
      }
    } catch (RuntimeException | Error e) { // the relay tries them again at once, one by one
      going.forEach((i, limit) -> keep(limit, messages.get(i)));
      throw e;
    }
    Iterator<Result> next = given.iterator();
    going.forEach(
        (i, limit) -> {
          Result result = next.next();
          results[i] = result;
          if (result instanceof Result.Unavailable slow && slow.again() != null) {
            keep(limit, messages.get(i));
          }
        });
  }

  private void keep(Optional<Limit> limit, StoredMessage message) {
    limit.ifPresent(one -> one.turns.keep(message, clock.getAsLong(), Unanswered.KEEP));
  }

  @Override
  public @Nullable String address() {
    return publisher.address();
  }

  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    return publisher.unreachable(patience);
  }

  @Override
  public List<Finding> findings(List<StoredMessage> waiting, Duration patience)
      throws InterruptedException {
    return publisher.findings(waiting, patience);
  }

  @Override
  public void close() {
    publisher.close();
  }

  /** The publisher's. */
  @Override
  public String toString() {
    return publisher.toString();
  }

  /** Collects the limits. Not safe for use by many threads. */
  public static final class Builder {
    private final MessagePublisher publisher;
    private final List<Limit> limits = new ArrayList<>();
    private LongSupplier clock = System::nanoTime;

    private Builder(MessagePublisher publisher) {
      this.publisher = requireNonNull(publisher, "publisher");
    }

    /**
     * One more limit, for the messages that it takes and none before it does. They share the rate.
     *
     * @param name for people
     * @param takes whether it takes a message; quick, safe for use by many threads
     */
    public Builder limit(String name, Rate rate, Predicate<StoredMessage> takes) {
      limits.add(new Limit(name, rate, requireNonNull(takes, "takes"), new Turns(rate)));
      return this;
    }

    Builder clock(LongSupplier clock) {
      this.clock = clock;
      return this;
    }

    /** Builds it. */
    public MessagePublisher build() {
      return new LimitedPublisher(publisher, List.copyOf(limits), clock);
    }
  }
}
