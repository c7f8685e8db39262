package dev.outbox.relay;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.publisher.core.TimeLimits;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Several publishers as one, by aggregate type or as you choose: say orders to Kafka, and invoices
 * to a partner by HTTP. Safe for use by many threads; closes its publishers.
 *
 * <p><b>Order (P2).</b> A key may have messages of several types, where the application gives them
 * one partition key. Its order is kept across publishers: a message goes to its publisher once
 * those before it were delivered by theirs. The publishers are called side by side, and called
 * again for messages that had to wait for another publisher's. No call begins after the first tenth
 * of the {@link Builder#timeout}; what was not sent by then is unavailable, and comes again.
 *
 * <p><b>Trouble (P3, P5).</b> What one publisher throws or gives wrong concerns its messages only,
 * and among these only the culprit, as in a relay. A publisher whose broker cannot be reached is
 * the destination that its messages wait for, and the others go on. While its calls take long it is
 * called only now and then. When a call takes longer than a twentieth of the time limit, the
 * others' results do not wait for it. Its messages are unavailable for now, and the call goes on;
 * the results come when the messages are published again ({@link
 * dev.outbox.publisher.core.Unanswered}). When no broker can be reached any more, the results name
 * no destination, so that the relay pauses. A publisher that has not returned at the end of the
 * time limit is interrupted and counts as unreachable.
 *
 * <p>It can be asked whether its brokers answer (P6) when one of its publishers can be asked.
 */
public final class RoutingPublisher implements MessagePublisher {
  /** The default of {@link Builder#timeout}: 20 s. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

  private final List<Routed> all;
  private final Function<StoredMessage, Routed> routes;
  private final Duration timeout;
  private final ExecutorService executor;
  private final RelayListener listener =
      new LoggingListener(LoggerFactory.getLogger(RoutingPublisher.class));

  /**
   * @param all for each message the one of them that takes it
   */
  RoutingPublisher(List<Routed> all, Function<StoredMessage, Routed> routes, Duration timeout) {
    this.all = List.copyOf(all);
    this.routes = routes;
    this.timeout = timeout;
    executor = RelayThreads.pool("outbox-routing-");
  }

  /**
   * Starts with the publisher that takes whatever no other one does.
   *
   * @param name for logs, and for results that say which publisher cannot be reached
   */
  public static Builder builder(String name, MessagePublisher otherwise) {
    return new Builder(name, otherwise);
  }

  /** The longest time limit that each publisher may have: nine tenths of that of all. */
  public static Duration timeoutOfEach(Duration timeout) {
    return timeout.minus(timeout.dividedBy(RoutedCall.PART));
  }

  /**
   * A publisher that is not open yet.
   *
   * @param types the aggregate types that it takes; empty: whatever no other one does
   * @param takes which messages it takes, whatever their aggregate types; null: those of its types
   * @param opening opens it with the time limit of one call
   */
  public record Unopened(
      String name,
      List<String> types,
      @Nullable Predicate<StoredMessage> takes,
      Function<Duration, MessagePublisher> opening) {

    /** A publisher that takes aggregate types. */
    public Unopened(String name, List<String> types, Function<Duration, MessagePublisher> opening) {
      this(name, types, null, opening);
    }

    private boolean isRest() {
      return types.isEmpty() && takes == null;
    }

    private void addTo(Builder routing, MessagePublisher publisher) {
      if (takes != null) {
        routing.publisher(name, publisher, takes);
      } else {
        routing.publisher(name, publisher, types.toArray(String[]::new));
      }
    }
  }

  /**
   * Opens one publisher, or several as one. When one cannot be opened, those that were are closed.
   *
   * @param unopened exactly one takes whatever no other one does
   * @param timeout of one call, whatever their number
   * @throws IllegalArgumentException as {@link Builder}'s methods; before any is opened, where none
   *     or several take the rest
   */
  public static MessagePublisher open(List<Unopened> unopened, Duration timeout) {
    List<Unopened> rest = unopened.stream().filter(Unopened::isRest).toList();
    if (rest.size() != 1) {
      throw new IllegalArgumentException(
          rest.isEmpty()
              ? "each publisher has types: one must take what no other one does, so leave out its types"
              : "the publishers %s have no types: only one may take what no other one does, so give the others types"
                  .formatted(rest.stream().map(Unopened::name).collect(Collectors.joining(", "))));
    }
    if (unopened.size() == 1) {
      return unopened.get(0).opening().apply(timeout);
    }
    Map<Unopened, MessagePublisher> opened = new LinkedHashMap<>();
    try {
      for (Unopened one : unopened) {
        opened.put(one, one.opening().apply(timeoutOfEach(timeout)));
      }
      Unopened other = rest.get(0);
      Builder routing = builder(other.name(), requireNonNull(opened.get(other))).timeout(timeout);
      opened.forEach(
          (one, publisher) -> {
            if (one != other) {
              one.addTo(routing, publisher);
            }
          });
      return routing.build();
    } catch (RuntimeException | Error e) {
      opened.values().forEach(publisher -> closeAfter(e, publisher));
      throw e;
    }
  }

  private static void closeAfter(Throwable error, MessagePublisher publisher) {
    try {
      publisher.close();
    } catch (RuntimeException | Error e) {
      error.addSuppressed(e);
    }
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new RoutedCall(messages, all, routes, timeout, executor, listener).publish();
  }

  /**
   * Closes its publishers, side by side.
   *
   * @throws IllegalStateException naming those that threw, or did not close within the time limit
   */
  @Override
  public void close() {
    String troubles;
    try { // in a thread of its own: an interrupt of this one must not cut it short
      troubles =
          BackgroundTasks.call(
                  "outbox-routing-close",
                  () ->
                      troubles(
                          all,
                          publisher -> {
                            publisher.close();
                            return Optional.empty();
                          },
                          timeout,
                          "did not close within " + Texts.time(timeout)))
              .join();
    } finally {
      executor.shutdownNow();
    }
    if (!troubles.isEmpty()) {
      throw new IllegalStateException("publishers were not closed: " + troubles);
    }
  }

  /** The addresses of the brokers that can be asked, each after its publisher's name. */
  @Override
  public @Nullable String address() {
    List<Routed> able = askable();
    return able.isEmpty()
        ? null
        : String.join(
            ", ", able.stream().map(one -> one.name() + " " + one.publisher().address()).toList());
  }

  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    Duration each = timeoutOfEach(patience);
    String troubles =
        troubles(
            askable(),
            publisher -> publisher.unreachable(each),
            patience,
            "did not say in time whether it answers");
    return troubles.isEmpty() ? Optional.empty() : Optional.of(troubles);
  }

  /** Asked side by side, as {@link #unreachable}; one that is late or throws is a warning. */
  @Override
  public List<Finding> findings(List<StoredMessage> waiting, Duration patience)
      throws InterruptedException {
    Map<Routed, List<StoredMessage>> messages =
        waiting.stream().collect(Collectors.groupingBy(routes));
    Duration each = timeoutOfEach(patience);
    List<List<Finding>> findings =
        answers(
            all,
            one -> one.publisher().findings(messages.getOrDefault(one, List.of()), each),
            patience,
            "did not say in time how its destinations are",
            (name, trouble) -> List.of(Finding.warning("publisher", name + " " + trouble, null)));
    return findings.stream().flatMap(List::stream).toList();
  }

  private List<Routed> askable() {
    return all.stream().filter(one -> one.publisher().address() != null).toList();
  }

  private interface Question<T, A> {
    A ask(T asked) throws Exception;
  }

  /** Asks each at the same time; an answer is empty when nothing is wrong. */
  private String troubles(
      List<Routed> asked,
      Question<MessagePublisher, Optional<String>> question,
      Duration time,
      String late)
      throws InterruptedException {
    return answers(
            asked,
            one -> question.ask(one.publisher()).map(said -> one.name() + ": " + said),
            time,
            late,
            (name, trouble) -> Optional.of(name + ": " + trouble))
        .stream()
        .flatMap(Optional::stream)
        .collect(Collectors.joining("; "));
  }

  /**
   * Asks each at the same time.
   *
   * @param otherwise the answer of one that is late or throws, by its name and its trouble
   */
  private <A> List<A> answers(
      List<Routed> asked,
      Question<Routed, A> question,
      Duration time,
      String late,
      BiFunction<String, String, A> otherwise)
      throws InterruptedException {
    List<Callable<A>> tasks = new ArrayList<>();
    asked.forEach(one -> tasks.add(() -> question.ask(one)));
    List<Future<A>> futures = executor.invokeAll(tasks, time.toNanos(), TimeUnit.NANOSECONDS);
    List<A> answers = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      String name = asked.get(i).name();
      try {
        answers.add(futures.get(i).get());
      } catch (CancellationException e) {
        answers.add(otherwise.apply(name, late));
      } catch (ExecutionException e) {
        answers.add(otherwise.apply(name, "threw " + e.getCause()));
      }
    }
    return answers;
  }

  @Override
  public String toString() {
    return String.join(", ", all.stream().map(Routed::name).toList());
  }

  /** Collects publishers, and checks each as it is added. Not safe for use by many threads. */
  public static final class Builder {
    private final List<Routed> publishers = new ArrayList<>();
    private final Map<String, Routed> byType = new HashMap<>();
    private final Map<Routed, Predicate<StoredMessage>> byChoice = new LinkedHashMap<>();
    private final Routed otherwise;
    private Duration timeout = DEFAULT_TIMEOUT;

    private Builder(String name, MessagePublisher otherwise) {
      this.otherwise = added(name, otherwise);
    }

    private Routed added(String name, MessagePublisher publisher) {
      if (name.isBlank()) {
        throw new IllegalArgumentException("a publisher's name is blank: give it one");
      }
      if (publishers.stream().anyMatch(one -> one.name().equals(name))) {
        throw new IllegalArgumentException(
            "two publishers are called %s: give one of them another name".formatted(name));
      }
      Routed added = new Routed(name, requireNonNull(publisher, name), System::nanoTime);
      publishers.add(added);
      return added;
    }

    /**
     * One more publisher.
     *
     * @param aggregateTypes what it takes, at least one; each type has one publisher
     * @throws IllegalArgumentException when a name is blank or taken, or a type is taken or missing
     */
    public Builder publisher(String name, MessagePublisher publisher, String... aggregateTypes) {
      Routed added = added(name, publisher);
      if (aggregateTypes.length == 0) {
        throw new IllegalArgumentException(
            "the publisher %s has no aggregate type: name those that it takes".formatted(name));
      }
      for (String type : aggregateTypes) {
        Routed other = byType.put(requireNonNull(type, "aggregateType"), added);
        if (other != null) {
          throw new IllegalArgumentException(
              "the aggregate type %s has two publishers, %s and %s: give it one"
                  .formatted(type, other.name(), name));
        }
      }
      return this;
    }

    /**
     * One more publisher, for messages of any aggregate type. It is asked before the publishers of
     * aggregate types. When several take a message, the first that was added gets it.
     *
     * @param takes whether it takes a message; quick, safe for use by many threads
     * @throws IllegalArgumentException when the name is blank or taken
     */
    public Builder publisher(
        String name, MessagePublisher publisher, Predicate<StoredMessage> takes) {
      byChoice.put(added(name, publisher), requireNonNull(takes, "takes"));
      return this;
    }

    /**
     * How long {@link RoutingPublisher#publish} takes at most; default 20 s. It belongs below the
     * relay's publish timeout, and the time limits of the publishers at nine tenths of it, {@link
     * #timeoutOfEach}, or below.
     *
     * @throws IllegalArgumentException when it is below a millisecond or above a day
     */
    public Builder timeout(Duration timeout) {
      this.timeout = TimeLimits.check("timeout", timeout, Duration.ofMillis(1), Duration.ofDays(1));
      return this;
    }

    public MessagePublisher build() {
      Map<String, Routed> types = Map.copyOf(byType);
      Map<Routed, Predicate<StoredMessage>> choices = new LinkedHashMap<>(byChoice);
      return new RoutingPublisher(
          publishers,
          message ->
              choices.entrySet().stream()
                  .filter(choice -> choice.getValue().test(message))
                  .map(Map.Entry::getKey)
                  .findFirst()
                  .orElseGet(
                      () -> types.getOrDefault(message.message().aggregateType(), otherwise)),
          timeout);
    }
  }
}
