package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

class LoggingListenerTest {

  private static final class Lines extends LegacyAbstractLogger {
    private final List<String> lines = new ArrayList<>();
    private final List<Throwable> causes = new ArrayList<>();
    private boolean debug = true;

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String pattern, Object[] arguments, Throwable cause) {
      lines.add(level + " " + MessageFormatter.basicArrayFormat(pattern, arguments));
      causes.add(cause);
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    public boolean isTraceEnabled() {
      return true;
    }

    @Override
    public boolean isDebugEnabled() {
      return debug;
    }

    @Override
    public boolean isInfoEnabled() {
      return true;
    }

    @Override
    public boolean isWarnEnabled() {
      return true;
    }

    @Override
    public boolean isErrorEnabled() {
      return true;
    }
  }

  private final Lines log = new Lines();
  private final AtomicLong clock = new AtomicLong();
  private final LoggingListener listener = new LoggingListener(log, clock::get);
  private final StoredMessage message = Samples.stored(7, "order 1");

  @Test
  void noKeyAndNoErrorBeginsALineOfItsOwn() {
    String forged = "k\r\nERROR forged \u001B[2J\u202E";
    StoredMessage hostile = Samples.stored(7, forged);
    List<StoredMessage> messages = List.of(hostile);
    RuntimeException error = new IllegalStateException(forged);
    listener.on(new RelayEvent.Delivered("relay/0", hostile));
    for (int i = 0; i < 2; i++) {
      listener.on(
          new RelayEvent.Retried(
              "relay/0", hostile, (Decision.Retry) Decision.retry(Duration.ZERO, forged)));
      listener.on(
          new RelayEvent.Unavailable(
              "relay/0", hostile, (Result.Unavailable) Result.unavailable(forged, forged)));
      listener.on(new RelayEvent.StoreFailed("relay/0", "claim", error));
    }
    listener.on(
        new RelayEvent.DeadLettered(
            "relay/0",
            hostile,
            (Decision.Dead) Decision.deadHaltingKey(forged),
            RelayEvent.DeadLetterReason.REJECTED));
    listener.on(
        new RelayEvent.DeadLettered(
            "relay/0",
            Samples.damaged(8, forged, 1),
            (Decision.Dead) Decision.deadHaltingKey("x"),
            RelayEvent.DeadLetterReason.UNDECODABLE));
    listener.on(new RelayEvent.LeaseLost("relay/0", messages));
    listener.on(new RelayEvent.Abandoned("relay/0", messages, forged));
    listener.on(new RelayEvent.PublisherBroken("relay/0", forged, null));
    listener.on(new RelayEvent.BreakerOpened("relay", forged));
    listener.on(new RelayEvent.CallbackFailed("relay/0", "retryPolicy", hostile, error));
    assertThat(log.lines).hasSize(14);
    assertThat(log.lines)
        .noneMatch(line -> line.matches("(?s).*[\\r\\n\u001B\u202E].*"))
        .anyMatch(line -> line.contains("k\\u000d\\u000aERROR forged \\u001b[2J\\u202e"));
  }

  @Test
  void noEventShowsPayloadOrHeaders() {
    List<StoredMessage> messages = List.of(message);
    RuntimeException error = new IllegalStateException("down");
    listener.on(new RelayEvent.Started("relay", 2, "schema public"));
    listener.on(new RelayEvent.Claimed("relay/0", messages, Duration.ZERO));
    listener.on(new RelayEvent.Published("relay/0", messages, Duration.ZERO));
    listener.on(new RelayEvent.Delivered("relay/0", message));
    listener.on(new RelayEvent.Retried("relay/0", message, Decision.retry(Duration.ZERO, "x")));
    listener.on(
        new RelayEvent.DeadLettered(
            "relay/0",
            message,
            Decision.deadHaltingKey("x"),
            RelayEvent.DeadLetterReason.EXHAUSTED));
    listener.on(
        new RelayEvent.Unavailable("relay/0", message, new Result.Unavailable("x", "topic")));
    listener.on(new RelayEvent.LeaseLost("relay/0", messages));
    listener.on(new RelayEvent.Abandoned("relay/0", messages, "x"));
    listener.on(new RelayEvent.PublisherBroken("relay/0", "threw", error));
    listener.on(new RelayEvent.BreakerOpened("relay", "x"));
    listener.on(new RelayEvent.BreakerClosed("relay"));
    listener.on(new RelayEvent.StoreFailed("relay/0", "claim", error));
    listener.on(new RelayEvent.StoreRecovered("relay/0"));
    listener.on(new RelayEvent.CallbackFailed("relay/0", "retryPolicy", message, error));
    listener.on(new RelayEvent.Stopped("relay", 0));
    listener.on(new RelayEvent.Stopped("relay", 1));
    assertThat(log.lines)
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
    assertThat(log.lines)
        .filteredOn(line -> line.startsWith("WARN"))
        .containsExactly(
            "WARN claim failed on relay/0, which publishes nothing until this is put right: down",
            "WARN " + message + " is tried again in 0s: refused",
            "WARN orders cannot be reached: no topic");
  }

  private void minutesLater(int minutes) {
    clock.addAndGet(Duration.ofMinutes(minutes).toNanos());
  }

  @Test
  void anOutageIsTwoLinesAndOneNowAndThen() {
    log.debug = false;
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
    assertThat(log.lines)
        .containsExactly(
            "WARN claim failed on relay/0: no connection",
            "WARN claim failed on relay/0: no connection (still, after 60 s and 13 tries)",
            "WARN claim failed on relay/0: no connection (still, after 3 min and 37 tries)",
            "INFO The store works again, after 5 min and 60 tries");
    assertThat(log.causes).as("no stack traces").containsOnlyNulls();
  }

  @Test
  void whatNobodyExpectsHasAStackTraceOnce() {
    log.debug = false;
    RuntimeException bug = new IllegalStateException("a bug");
    listener.on(new RelayEvent.StoreFailed("relay/0", "work", bug));
    minutesLater(2);
    listener.on(new RelayEvent.StoreFailed("relay/0", "work", bug));
    assertThat(log.lines).hasSize(2);
    assertThat(log.causes).containsExactly(bug, null);
  }

  @Test
  void anOutageOfTheBrokerIsCountedToo() {
    log.debug = false;
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
    assertThat(log.lines)
        .containsExactly(
            "WARN The broker cannot be reached, the relay pauses: kafka:9092 does not answer",
            "WARN The broker cannot be reached, the relay pauses: kafka:9092 does not answer"
                + " (still, after 60 s and 2 tries)",
            "INFO The broker can be reached again, after 3 min and 5 tries",
            "INFO The broker can be reached again");
  }

  @Test
  void aDestinationIsBackWhenTheMessageThatItHeldUpIsDelivered() {
    log.debug = false;
    Result.Unavailable orders = new Result.Unavailable("no leader", "topic orders");
    listener.on(new RelayEvent.Unavailable("relay/0", message, orders));
    listener.on(new RelayEvent.Unavailable("relay/0", Samples.stored(8, "b"), orders));
    minutesLater(1);
    listener.on(new RelayEvent.Delivered("relay/0", Samples.stored(8, "b")));
    assertThat(log.lines).as("lines, before that message is").noneMatch(l -> l.startsWith("INFO"));
    listener.on(new RelayEvent.Delivered("relay/0", message));
    listener.on(new RelayEvent.Delivered("relay/0", message));
    assertThat(log.lines)
        .filteredOn(line -> !line.startsWith("TRACE"))
        .containsExactly(
            "WARN topic orders cannot be reached: no leader",
            "INFO topic orders can be reached again, after 60 s and 2 tries");
  }

  @Test
  void aWrongAddressIsSaidWithTheAddress() {
    log.debug = false;
    listener.on(new RelayEvent.BrokerUnreachable("relay", "kafka:9092", "connection refused"));
    listener.on(new RelayEvent.BrokerUnreachable("relay", "kafka:9092", "connection refused"));
    minutesLater(1);
    listener.on(new RelayEvent.BrokerReachable("relay", "kafka:9092"));
    listener.on(new RelayEvent.StoodStill("relay/0", Duration.ofSeconds(31)));
    assertThat(log.lines)
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
    assertThat(log.lines)
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
    assertThat(log.lines).filteredOn(line -> line.startsWith("WARN")).hasSize(2);
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
    assertThat(log.lines)
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
        new RelayEvent.CallbackFailed(
            "relay/0", "retryPolicy", message, new IllegalStateException("odd")));
    listener.on(
        new RelayEvent.DeadLettered(
            "relay/0", message, Decision.dead("x"), RelayEvent.DeadLetterReason.REJECTED));
    listener.on(new RelayEvent.Started("relay", 2, "schema public"));
    listener.on(new RelayEvent.Started("relay", 2, null));
    listener.on(new RelayEvent.Stopped("relay", 0));
    listener.on(new RelayEvent.Stopped("relay", 1));
    assertThat(log.lines)
        .containsExactly(
            "WARN relay/0 lost the lease of 0 messages, first none",
            "WARN relay/0 lost the lease of 2 messages, first " + message,
            "WARN claim failed on relay/0, which publishes nothing until this is put right:"
                + " java.lang.IllegalStateException",
            "WARN retryPolicy failed on a message: odd",
            "ERROR " + message + " is a dead letter: x",
            "INFO Relay relay started with 2 workers on schema public",
            "INFO Relay relay started with 2 workers",
            "INFO Relay relay stopped",
            "WARN Relay relay stopped, but 1 of its threads are still inside the store or the"
                + " publisher; what they hold is claimed again after its lease");
  }
}
