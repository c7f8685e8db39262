package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.relay.RelayEvent.DeadLetterReason;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MessageFormatter;

class LoggingListenerTest {

  private final List<String> lines = new ArrayList<>();
  private final List<Throwable> causes = new ArrayList<>();
  private boolean debug = true;

  private final Logger log =
      (Logger)
          Proxy.newProxyInstance(
              Logger.class.getClassLoader(),
              new Class<?>[] {Logger.class},
              (proxy, method, arguments) -> log(method.getName(), arguments));

  /** Answers whether a level is on, or keeps a line. */
  private Object log(String method, Object[] arguments) {
    if (arguments == null) {
      return debug || !method.equals("isDebugEnabled");
    }
    if (debug || !method.equals("debug")) {
      boolean isList = arguments.length == 2 && arguments[1] instanceof Object[];
      FormattingTuple line =
          MessageFormatter.arrayFormat(
              String.valueOf(arguments[0]),
              isList
                  ? (Object[]) arguments[1]
                  : Arrays.copyOfRange(arguments, 1, arguments.length));
      lines.add(method.toUpperCase(Locale.ROOT) + " " + line.getMessage());
      causes.add(line.getThrowable());
    }
    return null;
  }

  private final AtomicLong clock = new AtomicLong();
  private final LoggingListener listener = new LoggingListener(log, clock::get);
  private final StoredMessage message = Samples.stored(7, "order 1");

  /** One of each kind, of a message with this key and with this text in all errors. */
  private void all(String key, String text) {
    StoredMessage one = Samples.stored(7, key);
    List<StoredMessage> messages = List.of(one);
    RuntimeException error = new IllegalStateException(text);
    for (RelayEvent event :
        List.of(
            new RelayEvent.Started("relay", 2, "schema public"),
            new RelayEvent.Claimed("relay/0", messages, Duration.ZERO),
            new RelayEvent.Published("relay/0", messages, Duration.ZERO),
            new RelayEvent.Delivered("relay/0", one),
            new RelayEvent.Retried("relay/0", one, Decision.retry(Duration.ZERO, text)),
            new RelayEvent.DeadLettered(
                "relay/0", one, Decision.deadHaltingKey(text), DeadLetterReason.REJECTED),
            new RelayEvent.DeadLettered(
                "relay/0",
                Samples.damaged(8, key, 1),
                Decision.deadHaltingKey(text),
                DeadLetterReason.UNDECODABLE),
            new RelayEvent.Unavailable("relay/0", one, new Result.Unavailable(text, text)),
            new RelayEvent.LeaseLost("relay/0", messages),
            new RelayEvent.Abandoned("relay/0", messages, text),
            new RelayEvent.PublisherBroken("relay/0", text, error),
            new RelayEvent.BreakerOpened("relay", text),
            new RelayEvent.BreakerClosed("relay"),
            new RelayEvent.StoreFailed("relay/0", "claim", error),
            new RelayEvent.StoreRecovered("relay/0"),
            new RelayEvent.Stopped("relay", 0),
            new RelayEvent.Stopped("relay", 1))) {
      listener.on(event);
    }
  }

  @Test
  void noKeyAndNoErrorBeginsALineOfItsOwn() {
    String forged = "k\r\nERROR forged \u001B[2J\u202E";
    all(forged, forged);
    all(forged, forged); // what repeats is said in other words
    assertThat(lines)
        .hasSizeGreaterThan(24)
        .noneMatch(line -> line.matches("(?s).*[\\r\\n\u001B\u202E].*"))
        .anyMatch(line -> line.contains("k\\u000d\\u000aERROR forged \\u001b[2J\\u202e"));
  }

  @Test
  void noEventShowsPayloadOrHeaders() {
    all("order 1", "x");
    assertThat(lines)
        .hasSizeGreaterThan(12)
        .noneMatch(line -> line.contains("secret"))
        .anyMatch(line -> line.startsWith("ERROR message 7") && line.contains("halts its key"));
  }

  @Test
  void whatRepeatsIsAWarningOnce() {
    RuntimeException down = new IllegalStateException("down");
    for (int i = 0; i < 100; i++) {
      listener.on(new RelayEvent.StoreFailed("relay/0", "claim", down));
      listener.on(
          new RelayEvent.Retried("relay/0", message, Decision.retry(Duration.ZERO, "refused")));
      listener.on(
          new RelayEvent.Unavailable(
              "relay/0", message, new Result.Unavailable("no topic", "orders")));
    }
    listener.on(
        new RelayEvent.StoreFailed("relay/1", "settle", new IllegalStateException("another")));
    assertThat(lines)
        .filteredOn(line -> line.startsWith("WARN"))
        .containsExactly(
            "WARN claim failed on relay/0, which publishes nothing until this is put right: down",
            "WARN " + message + " is tried again in 0s: refused",
            "WARN orders cannot be reached: no topic");
  }

  @Test
  void ofVeryManyDestinationsSomeAreNamed() {
    for (int i = 0; i < 1_000; i++) {
      listener.on(
          new RelayEvent.Unavailable(
              "relay/0",
              Samples.stored(i, "key"),
              new Result.Unavailable("503", "/customers/" + i)));
    }
    listener.on(new RelayEvent.StoreFailed("relay/0", "claim", new IllegalStateException("down")));
    assertThat(lines)
        .filteredOn(line -> line.startsWith("WARN"))
        .hasSize(TroubleLog.MOST + 1)
        .last()
        .asString()
        .contains("down");
    lines.clear();
    minutesLater(16);
    listener.on(
        new RelayEvent.Unavailable("relay/0", message, new Result.Unavailable("503", "/other")));
    assertThat(lines).containsExactly("WARN /other cannot be reached: 503");
  }

  private void minutesLater(int minutes) {
    clock.addAndGet(Duration.ofMinutes(minutes).toNanos());
  }

  @Test
  void anOutageIsTwoLinesAndOneNowAndThen() {
    debug = false;
    OutboxException down = new TransientOutboxException("no connection", new SQLException("08001"));
    for (int minute = 0; minute < 5; minute++) {
      for (int i = 0; i < 10; i++) {
        listener.on(
            new RelayEvent.StoreFailed("relay/" + i % 3, i % 2 == 0 ? "claim" : "settle", down));
      }
      listener.on(new RelayEvent.StoreFailed("relay", "housekeep", down));
      listener.on(new RelayEvent.StoreFailed("relay", "pauses", down));
      minutesLater(1);
    }
    listener.on(new RelayEvent.StoreRecovered("relay/1"));
    listener.on(new RelayEvent.StoreRecovered("relay/2"));
    assertThat(lines)
        .containsExactly(
            "WARN claim failed on relay/0: no connection",
            "WARN claim failed on relay/0: no connection (still, after 60 s and 13 tries)",
            "WARN claim failed on relay/0: no connection (still, after 3 min and 37 tries)",
            "INFO The store works again, after 5 min and 60 tries");
    assertThat(causes).as("no stack traces").containsOnlyNulls();
  }

  @Test
  void whatNobodyExpectsHasAStackTraceOnce() {
    debug = false;
    RuntimeException bug = new IllegalStateException("a bug");
    listener.on(new RelayEvent.StoreFailed("relay/0", "work", bug));
    minutesLater(2);
    listener.on(new RelayEvent.StoreFailed("relay/0", "work", bug));
    assertThat(lines).hasSize(2);
    assertThat(causes).containsExactly(bug, null);
  }

  @Test
  void anOutageOfTheBrokerIsCountedToo() {
    debug = false;
    Result.Unavailable gone = new Result.Unavailable("kafka:9092 does not answer", null);
    for (int minute = 0; minute < 3; minute++) {
      listener.on(new RelayEvent.Unavailable("relay/0", message, gone));
      listener.on(new RelayEvent.Unavailable("relay/0", message, gone));
      if (minute == 0) {
        listener.on(new RelayEvent.BreakerOpened("relay", gone.error()));
      }
      listener.on(
          new RelayEvent.Retried(
              "relay/0", message, Decision.retryUncounted(Duration.ZERO, gone.error())));
      minutesLater(1);
    }
    listener.on(new RelayEvent.BreakerClosed("relay"));
    listener.on(new RelayEvent.BreakerClosed("relay"));
    assertThat(lines)
        .containsExactly(
            "WARN The broker cannot be reached, the relay pauses: kafka:9092 does not answer",
            "WARN The broker cannot be reached, the relay pauses: kafka:9092 does not answer"
                + " (still, after 60 s and 2 tries)",
            "INFO The broker can be reached again, after 3 min and 5 tries",
            "INFO The broker can be reached again");
  }

  @Test
  void aDestinationIsBackWhenTheMessageThatItHeldUpIsDelivered() {
    debug = false;
    Result.Unavailable orders = new Result.Unavailable("no leader", "topic orders");
    listener.on(new RelayEvent.Unavailable("relay/0", message, orders));
    listener.on(new RelayEvent.Unavailable("relay/0", Samples.stored(8, "b"), orders));
    minutesLater(1);
    listener.on(new RelayEvent.Delivered("relay/0", Samples.stored(8, "b")));
    assertThat(lines).as("lines, before that message is").noneMatch(l -> l.startsWith("INFO"));
    listener.on(new RelayEvent.Delivered("relay/0", message));
    listener.on(new RelayEvent.Delivered("relay/0", message));
    assertThat(lines)
        .filteredOn(line -> !line.startsWith("TRACE"))
        .containsExactly(
            "WARN topic orders cannot be reached: no leader",
            "INFO topic orders can be reached again, after 60 s and 2 tries");
  }

  @Test
  void aWrongAddressIsSaidWithTheAddress() {
    debug = false;
    listener.on(new RelayEvent.BrokerUnreachable("relay", "kafka:9092", "connection refused"));
    listener.on(new RelayEvent.BrokerUnreachable("relay", "kafka:9092", "connection refused"));
    minutesLater(1);
    listener.on(new RelayEvent.BrokerReachable("relay", "kafka:9092"));
    listener.on(new RelayEvent.StoodStill("relay/0", Duration.ofSeconds(31)));
    assertThat(lines)
        .containsExactly(
            "WARN The broker at kafka:9092 cannot be reached: connection refused",
            "INFO The broker at kafka:9092 answers, after 60 s and 2 tries",
            "WARN relay/0 stood still for 31s, as when the process is stopped or its machine"
                + " suspended: leases may be lost, and messages delivered again");
  }

  @Test
  void theUndecodableAreNamedByKeyAndSequence() {
    listener.on(
        new RelayEvent.Retried(
            "relay/0",
            Samples.damaged(8, "order 1", 0),
            Decision.retry(Duration.ZERO, "bad headers")));
    assertThat(lines)
        .containsExactly(
            "WARN message 8 (key order 1, undecodable: headers are not JSON) is tried again in"
                + " 0s: bad headers");
  }

  @Test
  void afterARecoveryTheSameFailureIsAWarningAgain() {
    RuntimeException down = new IllegalStateException("down");
    listener.on(new RelayEvent.StoreFailed("relay/0", "claim", down));
    listener.on(new RelayEvent.StoreRecovered("relay/0"));
    listener.on(new RelayEvent.StoreFailed("relay/0", "claim", down));
    assertThat(lines).filteredOn(line -> line.startsWith("WARN")).hasSize(2);
  }

  @Test
  void aStoreThatRefusesForGoodIsSaidWithWhatComesOfIt() {
    RuntimeException refused = new PermanentOutboxException("permission denied");
    for (String operation : List.of("claim", "settle", "renew", "housekeep")) {
      new LoggingListener(log, clock::get)
          .on(new RelayEvent.StoreFailed("relay/0", operation, refused));
    }
    listener.on(
        new RelayEvent.StoreFailed("relay/1", "claim", new TransientOutboxException("down")));
    String consequence = ", which publishes nothing until this is put right: permission denied";
    assertThat(lines)
        .containsExactly(
            "WARN claim failed on relay/0" + consequence,
            "WARN settle failed on relay/0" + consequence,
            "WARN renew failed on relay/0: permission denied",
            "WARN housekeep failed on relay/0: permission denied",
            "WARN claim failed on relay/1: down");
  }

  @Test
  void linesSayWhoAndWhat() {
    listener.on(new RelayEvent.LeaseLost("relay/0", List.of()));
    listener.on(new RelayEvent.LeaseLost("relay/0", List.of(message, message)));
    listener.on(new RelayEvent.Unavailable("relay/0", message, new Result.Unavailable("x", null)));
    listener.on(new RelayEvent.StoreFailed("relay/0", "claim", new IllegalStateException()));
    listener.on(
        new RelayEvent.DeadLettered(
            "relay/0", message, Decision.dead("x"), DeadLetterReason.REJECTED));
    listener.on(new RelayEvent.Started("relay", 2, "schema public"));
    listener.on(new RelayEvent.Started("relay", 2, null));
    listener.on(new RelayEvent.Stopped("relay", 0));
    listener.on(new RelayEvent.Stopped("relay", 1));
    assertThat(lines)
        .containsExactly(
            "WARN relay/0 lost the lease of 0 messages, first none",
            "WARN relay/0 lost the lease of 2 messages, first " + message,
            "WARN claim failed on relay/0, which publishes nothing until this is put right:"
                + " java.lang.IllegalStateException",
            "ERROR " + message + " is a dead letter: x",
            "INFO Relay relay started with 2 workers on schema public",
            "INFO Relay relay started with 2 workers",
            "INFO Relay relay stopped",
            "WARN Relay relay stopped, but 1 of its threads are still inside the store or the"
                + " publisher; what they hold is claimed again after its lease");
  }
}
