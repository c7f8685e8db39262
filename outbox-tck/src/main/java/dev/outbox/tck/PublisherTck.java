package dev.outbox.tck;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.ReachablePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What every publisher must pass. The author of a publisher writes one test class with three
 * methods:
 *
 * <pre>{@code
 * class MyPublisherTest extends PublisherTck {
 *   protected MessagePublisher createPublisher() { … }
 *   protected List<Received> received() { … }
 *   protected void reset() { … }
 * }
 * }</pre>
 *
 * <p>That runs what needs nothing but a broker that works. The rest is unlocked when the class also
 * implements the interfaces in here, as {@link BrokerStops}; what is not unlocked is skipped and
 * says what would unlock it. Rule numbers are on each test as {@link Rule}, in its name and at the
 * begin of its failures.
 *
 * <p>No call of the publisher or of the test class can hang the suite: each is given up after a
 * time, publish and close 5 s after {@link #timeout}. The tests of the fixture run first, and
 * nothing else when one of them fails. An outage happens once, and several tests ask about it. A
 * test that needs what another rule breaks is skipped and says so. When the tests that failed took
 * a minute altogether the rest is skipped, unless {@code -Doutbox.tck.all=true}.
 */
@DisplayNameGeneration(RuleNames.class)
@ExtendWith(Frame.class)
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
public abstract class PublisherTck {
  /** How much longer than it may something takes on a busy machine. */
  static final Duration BUSY_MACHINE = Duration.ofSeconds(5);

  private final AtomicLong sequences = new AtomicLong();
  private final Numbers numbers = new Numbers();
  private final Set<MessagePublisher> created = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<MessagePublisher> stuck = Collections.newSetFromMap(new IdentityHashMap<>());
  private Patience patience = new Patience();
  private PublisherRun run = new PublisherRun();
  private @Nullable MessagePublisher publisher;

  /**
   * A publisher, with the time limit of {@link #timeout()}; the suite closes it. Called at least
   * once a test.
   */
  protected abstract MessagePublisher createPublisher();

  /** All that a consumer can read now from all destinations; of each key the oldest first. */
  protected abstract List<Received> received();

  /** Makes {@link #received()} empty, and all destinations usable. */
  protected abstract void reset();

  /** In which the publisher's publish and close must return (P5); default 20 s. */
  protected Duration timeout() {
    return Duration.ofSeconds(20);
  }

  /** How long to wait for what has to happen; default 60 s. */
  protected Duration patience() {
    return Duration.ofSeconds(60);
  }

  /** The broker can be stopped in good order and started again. */
  public interface BrokerStops {
    void stopBroker();

    /** Also after {@link BrokerCrashes#killBroker()}; returns when it can be used. */
    void startBroker();
  }

  /** The broker can be ended as by a crash. */
  public interface BrokerCrashes extends BrokerStops {
    void killBroker();
  }

  /** The broker can be made to hang: it keeps its connections and answers nothing. */
  public interface BrokerHangs {
    void pauseBroker();

    void resumeBroker();
  }

  /** There are messages that the broker never takes. */
  public interface BrokerRejects {
    /** Turns a message into one that is rejected; its key stays. */
    OutboxMessage.Builder rejected(OutboxMessage.Builder message);
  }

  /** There is a topic or queue that does not exist. */
  public interface DestinationMissing {
    /** Sends a message there; its key stays. */
    OutboxMessage.Builder toMissing(OutboxMessage.Builder message);
  }

  /** There is a topic or queue that takes messages, and cannot make them durable now. */
  public interface DestinationNotDurable {
    /** Sends a message there; its key stays. */
    OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message);
  }

  /**
   * There is a topic, queue or host that takes what is sent there and never answers, while others
   * do.
   */
  public interface DestinationHangs {
    /** Sends a message there; its key stays. */
    OutboxMessage.Builder toHanging(OutboxMessage.Builder message);
  }

  /** What must arrive besides key, payload and the message's own headers (P4). */
  public enum Attribute {
    ID,
    AGGREGATE_TYPE,
    AGGREGATE_ID,
    EVENT_TYPE,
    CONTENT_TYPE,
    /** ISO 8601. */
    CREATED_AT,
    SEQUENCE,
    DEDUP_KEY,
    CORRELATION_ID
  }

  /** A message as a consumer sees it. Immutable. */
  public static final class Received {
    private final @Nullable String key;
    private final byte[] payload;
    private final List<Header> headers;
    private final Map<Attribute, String> attributes;

    private Received(
        @Nullable String key,
        byte[] payload,
        List<Header> headers,
        Map<Attribute, String> attributes) {
      this.key = key;
      this.payload = payload;
      this.headers = headers;
      this.attributes = attributes;
    }

    /**
     * A message without attributes.
     *
     * @param headers in the broker's order; those that the publisher adds may be among them
     */
    public static Received of(@Nullable String key, byte[] payload, List<Header> headers) {
      return new Received(
          key, payload.clone(), List.copyOf(headers), new EnumMap<>(Attribute.class));
    }

    /** The same with an attribute; null is none. */
    public Received with(Attribute attribute, @Nullable String value) {
      if (value == null) {
        return this;
      }
      Map<Attribute, String> more = new EnumMap<>(Attribute.class);
      more.putAll(attributes);
      more.put(attribute, value);
      return new Received(key, payload, headers, more);
    }

    @Nullable String key() {
      return key;
    }

    byte[] payload() {
      return payload.clone();
    }

    List<Header> headers() {
      return headers;
    }

    @Nullable String attribute(Attribute attribute) {
      return attributes.get(attribute);
    }

    @Override
    public String toString() {
      return "key %s, %d bytes, %s, headers %s".formatted(key, payload.length, attributes, headers);
    }
  }

  /** The patience and the memory of a whole run. */
  void begin(Patience ofTheRun, PublisherRun memory) {
    patience = ofTheRun;
    run = memory;
    patience.begin();
  }

  PublisherRun run() {
    return run;
  }

  @BeforeEach
  void prepare() {
    clear();
    publisher = create();
  }

  @AfterEach
  void closePublishers() {
    for (MessagePublisher one : List.copyOf(created)) {
      run.closed(close(one));
    }
    patience.awaitGivenUp();
  }

  @org.junit.jupiter.api.Order(1) // a nested class has the short name
  @Nested
  @DisplayName("The fixture")
  class Fixture extends PublisherTests.FixtureTests {
    Fixture() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("Results")
  class Results extends PublisherTests.ResultTests {
    Results() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("Order")
  class Order extends PublisherTests.OrderTests {
    Order() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("Trouble")
  class Trouble extends PublisherTroubleTests {
    Trouble() {
      super(PublisherTck.this);
    }
  }

  @Nested
  @DisplayName("What arrives")
  class Arrival extends PublisherArrivalTests {
    Arrival() {
      super(PublisherTck.this);
    }
  }

  @org.junit.jupiter.api.Order(Integer.MAX_VALUE) // it asks how all publishers were closed
  @Nested
  @DisplayName("The end")
  class End extends PublisherTroubleTests.EndTests {
    End() {
      super(PublisherTck.this);
    }
  }

  /** This test class as the fixture that unlocks a test; its calls may hang. */
  <F> F fixture(Class<F> type) {
    if (!type.isInstance(this)) {
      throw new NotUnlocked("the test class", type);
    }
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                call(
                    method.getName() + "()",
                    "the broker does not become what it should be",
                    () -> invoke(method, arguments))));
  }

  private Object invoke(Method method, Object @Nullable [] arguments) throws Exception {
    try {
      return method.invoke(this, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw (Error) requireNonNull(e.getCause());
    }
  }

  /** The publisher's ability to ask its broker for a sign of life. */
  ReachablePublisher reachable() {
    if (publisher instanceof ReachablePublisher reachable) {
      return reachable;
    }
    throw new NotUnlocked("the publisher", ReachablePublisher.class);
  }

  OutboxMessage.Builder message(String key) {
    return OutboxMessage.builder()
        .aggregate("tck", key)
        .eventType("Happened")
        .payload("{\"key\":\"" + key + "\"}");
  }

  StoredMessage stored(OutboxMessage.Builder message) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MICROS);
    OutboxMessage built = message.build();
    numbers.add(built.id());
    return StoredMessage.of(sequences.incrementAndGet(), 0, now, built);
  }

  List<StoredMessage> batch(OutboxMessage.Builder... messages) {
    return Arrays.stream(messages).map(this::stored).toList();
  }

  // ---- calls, none of which can hang the suite

  private <R> R call(String what, String cause, Callable<R> action) {
    try {
      return patience.call(what, cause, patience(), action);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** {@link #reset()}. */
  void clear() {
    call(
        "reset()",
        "a producer or consumer of an earlier test still uses what is removed",
        () -> {
          reset();
          return true;
        });
  }

  /** {@link #createPublisher()}; it is closed after the test. */
  MessagePublisher create() {
    MessagePublisher made =
        call(
            "createPublisher()",
            "it waits for the broker. Connect in the background, or with a time limit (P5)",
            this::createPublisher);
    created.add(requireNonNull(made, "createPublisher() returned null"));
    return made;
  }

  /** {@link #received()}. */
  List<Received> receive() {
    return call(
        "received()",
        "it waits for more messages. Find out where the destinations end, and return what is before",
        this::received);
  }

  MessagePublisher publisher() {
    return requireNonNull(publisher, "there is no publisher yet");
  }

  /** A call of publish on a thread of its own. */
  Publishing start(MessagePublisher to, String when, List<StoredMessage> messages) {
    return new Publishing(to, when, Collections.unmodifiableList(messages));
  }

  /** Publishes while all is well. */
  Published publish(List<StoredMessage> messages) {
    return publish(PublisherRun.WELL, messages);
  }

  /** Publishes; not again in circumstances in which publish did not return before in this run. */
  Published publish(String when, List<StoredMessage> messages) {
    return run.hung(when)
        ? Published.hung(when, messages, limit())
        : start(publisher(), when, messages).await();
  }

  /** After which publish has broken P5. */
  private Duration limit() {
    return timeout().plus(BUSY_MACHINE);
  }

  /** A call that goes on. */
  final class Publishing {
    private final MessagePublisher to;
    private final String when;
    private final List<StoredMessage> messages;
    private final Deadline deadline = new Deadline(limit());
    private final CompletableFuture<@Nullable List<Result>> results = new CompletableFuture<>();
    private final Thread thread;

    private Publishing(MessagePublisher to, String when, List<StoredMessage> messages) {
      this.to = to;
      this.when = when;
      this.messages = messages;
      thread = new Thread(this::run, "publisher tck");
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        results.complete(to.publish(messages));
      } catch (Throwable e) {
        results.completeExceptionally(e);
      }
    }

    Published await() {
      try {
        return Published.returned(when, messages, deadline.get(results));
      } catch (TimeoutException e) {
        thread.interrupt();
        stuck.add(to);
        Published hung = Published.hung(when, messages, limit());
        run.hangs(when, hung);
        return hung;
      } catch (ExecutionException e) {
        return Published.threw(when, messages, requireNonNull(e.getCause()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted", e);
      }
    }
  }

  /**
   * Publishes until each message was delivered once, as a relay would: in order for each key.
   *
   * @return why it was in vain; null when all is delivered
   */
  @Nullable String publishUntilDelivered(List<StoredMessage> messages) {
    List<StoredMessage> open = new ArrayList<>(messages);
    Deadline deadline = new Deadline(patience.of(patience()));
    while (true) {
      Published published = start(publisher(), PublisherRun.AGAIN, open).await();
      String wrong = published.hung() != null ? published.hung() : published.miscounted();
      if (wrong != null) {
        return wrong;
      }
      List<StoredMessage> rest = new ArrayList<>();
      int first = -1;
      for (int i = 0; i < open.size(); i++) {
        if (!published.delivered(i)) {
          first = first < 0 ? i : first;
          rest.add(open.get(i));
        }
      }
      if (rest.isEmpty()) {
        return null;
      }
      if (deadline.isOver()) {
        patience.waitedInVain();
        return "after %s %d of %d messages were not delivered, the first was %s"
            .formatted(
                Patience.seconds(patience()),
                rest.size(),
                messages.size(),
                Published.words(published.result(first)));
      }
      open = rest;
    }
  }

  /** Asks, for a time; what does not return has said nothing. */
  Optional<String> ask(ReachablePublisher reachable, Duration time) {
    try {
      return patience.call(
          "unreachable()", "", time.plus(BUSY_MACHINE), () -> reachable.unreachable(time));
    } catch (Patience.Hung e) {
      return Optional.empty();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Closes it. One of which a call goes on is not waited for.
   *
   * @return what is wrong with that; null is nothing
   */
  @Nullable String close(MessagePublisher closing) {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                closing.close();
                closed.complete(null);
              } catch (Throwable e) {
                closed.completeExceptionally(e);
              }
            },
            "publisher tck close");
    thread.setDaemon(true);
    thread.start();
    created.remove(closing);
    if (stuck.remove(closing)) {
      return null;
    }
    try {
      Void ignored = new Deadline(limit()).get(closed);
      return null;
    } catch (TimeoutException e) {
      thread.interrupt();
      return "close() did not return in %s".formatted(Patience.seconds(limit()));
    } catch (ExecutionException e) {
      return "close() threw %s".formatted(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /** What the publisher did while its broker was stopped in good order. */
  Outage stopped() {
    BrokerStops broker = fixture(BrokerStops.class);
    return run.once(
        PublisherRun.STOPPED,
        when -> Outage.happen(this, when, broker::stopBroker, broker::startBroker));
  }

  /** What the publisher did while its broker hung. */
  Outage hung() {
    BrokerHangs broker = fixture(BrokerHangs.class);
    return run.once(
        PublisherRun.HUNG,
        when -> Outage.happen(this, when, broker::pauseBroker, broker::resumeBroker));
  }

  /** What arrived, once it is as expected or patience is over. */
  List<Received> await(Predicate<List<Received>> expected) {
    long begin = System.nanoTime();
    Deadline deadline = new Deadline(patience.of(patience()));
    List<Received> now = receive();
    while (!expected.test(now)) {
      if (deadline.isOver()) {
        patience.waitedInVain();
        return now;
      }
      deadline.pause(Duration.ofMillis(20));
      now = receive();
    }
    patience.waited(System.nanoTime() - begin);
    return now;
  }

  Numbers numbers() {
    return numbers;
  }

  static List<String> ids(List<Received> received) {
    return received.stream().map(r -> String.valueOf(r.attribute(Attribute.ID))).toList();
  }

  static String id(StoredMessage message) {
    return message.message().id().toString();
  }
}
