package dev.outbox.tck.publisher;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Deadline;
import dev.outbox.tck.internal.Frame;
import dev.outbox.tck.internal.InThread;
import dev.outbox.tck.internal.Numbers;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.publisher.PublisherTck.Attribute;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The test class of a publisher as the tests know it. None of its calls can hang the suite. */
final class PatientPublisher implements Frame.Tested {
  /** How much longer than it may something takes on a busy machine. */
  static final Duration BUSY_MACHINE = Duration.ofSeconds(5);

  private final PublisherTck fixture;
  private final Patience patience;
  private final PublisherFrame run;
  private final AtomicLong sequences = new AtomicLong();
  private final Numbers numbers = new Numbers();
  private final Set<MessagePublisher> created = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Also of threads that tests have. */
  private final Set<MessagePublisher> stuck =
      Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

  private @Nullable MessagePublisher publisher;

  /**
   * @param patience of the whole run
   * @param run what one test leaves to the others
   */
  PatientPublisher(PublisherTck fixture, Patience patience, PublisherFrame run) {
    this.fixture = fixture;
    this.patience = patience;
    this.run = run;
  }

  PublisherFrame run() {
    return run;
  }

  Duration timeout() {
    return fixture.timeout();
  }

  Duration patience() {
    return fixture.patience();
  }

  @Override
  public void prepare() {
    clear();
    publisher = create();
  }

  @Override
  public void giveBack() {
    List.copyOf(created).forEach(this::close);
    patience.awaitGivenUp();
  }

  /** The test class as the fixture that unlocks a test; its calls may hang. */
  <F> F fixture(Class<F> type) {
    if (!type.isInstance(fixture)) {
      throw Patient.notUnlocked("the test class", "PublisherTck." + type.getSimpleName());
    }
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                call(
                    method.getName() + "()",
                    "the broker does not become what it should be",
                    () -> Patient.call(fixture, method, arguments))));
  }

  /** Where the broker is that the publisher can ask for a sign of life. */
  String address() {
    String address = requireNonNull(publisher).address();
    if (address == null) {
      throw Patient.notUnlocked("the publisher", "address");
    }
    return address;
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

  /** So many messages of so many keys, by turns. */
  List<StoredMessage> many(int count, String key, int keys) {
    return IntStream.range(0, count).mapToObj(i -> stored(message(key + i % keys))).toList();
  }

  // ---- calls, none of which can hang the suite

  private <R> R call(String what, String cause, Callable<R> action) {
    return patience.call(what, cause, fixture.patience(), action);
  }

  void clear() {
    patience.run(
        "reset()",
        "a producer or consumer of an earlier test still uses what is removed",
        fixture.patience(),
        fixture::reset);
  }

  /** {@link PublisherTck#createPublisher}; it is closed after the test. */
  MessagePublisher create() {
    MessagePublisher made =
        call(
            "createPublisher()",
            "it waits for the broker. Connect in the background, or with a time limit (P5)",
            fixture::createPublisher);
    created.add(requireNonNull(made, "createPublisher() returned null"));
    return made;
  }

  List<Received> receive() {
    return call(
        "received()",
        "it waits for more messages. Find out where the destinations end, and return what is before",
        fixture::received);
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
    return publish(PublisherFrame.WELL, messages);
  }

  /** Publishes; not again in circumstances in which publish did not return before in this run. */
  Published publish(String when, List<StoredMessage> messages) {
    return run.hung.contains(when)
        ? Published.hung(when, messages, limit())
        : start(publisher(), when, messages).await();
  }

  /**
   * Publishes, and hands over again what has no answer yet, as a relay does (P3).
   *
   * @param keys the record keys of those of which the answer is waited for
   */
  Published publishUntilAnswered(String when, List<StoredMessage> messages, List<String> keys) {
    Published published = publish(when, messages);
    Deadline deadline = deadline();
    List<Integer> open = published.unanswered(keys);
    while (!open.isEmpty() && !deadline.isOver()) {
      Published again = publish(when, open.stream().map(messages::get).toList());
      if (again.results() == null || again.miscounted() != null) {
        return again;
      }
      for (int i = 0; i < open.size(); i++) {
        requireNonNull(published.results()).set(open.get(i), again.result(i));
      }
      open = published.unanswered(keys);
    }
    return published;
  }

  private Deadline deadline() {
    return new Deadline(patience.of(fixture.patience()));
  }

  /** After which publish has broken P5. */
  private Duration limit() {
    return fixture.timeout().plus(BUSY_MACHINE);
  }

  final class Publishing {
    private final MessagePublisher to;
    private final String when;
    private final List<StoredMessage> messages;
    private final Deadline deadline = new Deadline(limit());
    private final InThread<@Nullable List<Result>> results;

    private Publishing(MessagePublisher to, String when, List<StoredMessage> messages) {
      this.to = to;
      this.when = when;
      this.messages = messages;
      results = new InThread<>("publisher tck", () -> to.publish(messages));
    }

    Published await() {
      try {
        return new Published(when, messages, deadline.get(results), null, null);
      } catch (TimeoutException e) {
        results.interrupt();
        stuck.add(to);
        run.hung.add(when);
        return Published.hung(when, messages, limit());
      } catch (ExecutionException e) {
        return new Published(when, messages, null, requireNonNull(e.getCause()), null);
      }
    }

    /** The publisher's own list of results, empty when it gave none. */
    List<Result> given() {
      return await().results() == null ? List.of() : requireNonNull(results.join());
    }
  }

  /**
   * Publishes until each message was delivered once, as a relay would: in order for each key.
   *
   * @return why it was in vain; null when all is delivered
   */
  @Nullable String publishUntilDelivered(List<StoredMessage> messages) {
    List<StoredMessage> open = messages;
    Deadline deadline = deadline();
    while (!open.isEmpty()) {
      Published published =
          start(publisher(), "when it was called again for what was not delivered", open).await();
      String wrong = published.hung() != null ? published.hung() : published.miscounted();
      if (wrong != null) {
        return wrong;
      }
      List<StoredMessage> rest = published.undelivered();
      if (!rest.isEmpty() && deadline.isOver()) {
        patience.waitedInVain();
        return "after %s %s of %s messages were not delivered, the first was %s"
            .formatted(
                Patience.seconds(fixture.patience()),
                rest.size(),
                messages.size(),
                Published.words(published.result(open.indexOf(rest.get(0)))));
      }
      open = rest;
    }
    return null;
  }

  /**
   * What came of the question whether the broker answers.
   *
   * @param trouble why it cannot be reached
   * @param wrong why nothing was said; else null
   */
  record Asked(Optional<String> trouble, @Nullable String wrong) {}

  Asked ask(Duration time) {
    MessagePublisher asking = publisher();
    InThread<Optional<String>> answer =
        new InThread<>("publisher tck ask", () -> asking.unreachable(time));
    Duration limit = time.plus(BUSY_MACHINE);
    String call = "unreachable(%s)".formatted(Patience.seconds(time));
    try {
      return new Asked(new Deadline(limit).get(answer), null);
    } catch (TimeoutException e) {
      answer.interrupt();
      stuck.add(asking);
      patience.waitedInVain();
      return new Asked(
          Optional.empty(),
          "%s did not return in %s: keep to the time it is given"
              .formatted(call, Patience.seconds(limit)));
    } catch (ExecutionException e) {
      return new Asked(
          Optional.empty(),
          "%s threw %s: say why the broker cannot be reached".formatted(call, e.getCause()));
    }
  }

  /** The same again and again, until it is reached or patience is over. */
  Asked askUntilReached() {
    Asked reached =
        patience.await(
            fixture.patience(),
            () -> {
              Asked asked = ask(fixture.patience());
              return asked.trouble().isEmpty() ? asked : null;
            });
    return reached == null ? ask(fixture.patience()) : reached;
  }

  /**
   * Closes it. One of which a call goes on is not waited for.
   *
   * @return what is wrong with that; null is nothing
   */
  @Nullable String close(MessagePublisher closing) {
    InThread<Boolean> closed =
        new InThread<>(
            "publisher tck close",
            () -> {
              closing.close();
              return true;
            });
    created.remove(closing);
    if (stuck.remove(closing)) {
      return null;
    }
    try {
      new Deadline(limit()).get(closed);
      return null;
    } catch (TimeoutException e) {
      closed.interrupt();
      return "close() did not return in %s".formatted(Patience.seconds(limit()));
    } catch (ExecutionException e) {
      return "close() threw %s".formatted(e.getCause());
    }
  }

  /** What arrived, once it is as expected or patience is over. */
  List<Received> await(Predicate<List<Received>> expected) {
    List<Received> came =
        patience.await(
            fixture.patience(),
            () -> {
              List<Received> now = receive();
              return expected.test(now) ? now : null;
            });
    return came == null ? receive() : came;
  }

  @Override
  public Numbers numbers() {
    return numbers;
  }

  static List<String> ids(List<Received> received) {
    return received.stream().map(r -> String.valueOf(r.attribute(Attribute.ID))).toList();
  }
}
