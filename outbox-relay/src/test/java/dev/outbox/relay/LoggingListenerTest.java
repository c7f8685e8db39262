package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.Decision;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
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
    listener.delivered(hostile);
    for (int i = 0; i < 2; i++) {
      listener.retried(hostile, (Decision.Retry) Decision.retry(Duration.ZERO, true, forged));
      listener.unavailable(hostile, (Result.Unavailable) Result.unavailable(forged, forged));
      listener.storeFailed("relay/0", "claim", error);
    }
    listener.deadLettered(hostile, (Decision.Dead) Decision.dead(forged, true));
    listener.deadLettered(Samples.damaged(8, forged, 1), (Decision.Dead) Decision.dead("x", true));
    listener.leaseLost("relay/0", messages);
    listener.abandoned("relay/0", messages, forged);
    listener.publisherBroken("relay/0", forged, null);
    listener.breakerOpened(forged);
    listener.callbackFailed("retryPolicy", hostile, error);
    assertThat(log.lines).hasSize(14);
    assertThat(log.lines)
        .noneMatch(line -> line.matches("(?s).*[\\r\\n\u001B\u202E].*"))
        .anyMatch(line -> line.contains("k\\u000d\\u000aERROR forged \\u001b[2J\\u202e"));
  }

  @Test
  void noEventShowsPayloadOrHeaders() {
    List<StoredMessage> messages = List.of(message);
    RuntimeException error = new IllegalStateException("down");
    listener.started("relay", 2);
    listener.claimed("relay/0", messages, Duration.ZERO);
    listener.published("relay/0", messages, Duration.ZERO);
    listener.delivered(message);
    listener.retried(message, new Decision.Retry(Duration.ZERO, true, "x"));
    listener.deadLettered(message, new Decision.Dead("x", true));
    listener.unavailable(message, new Result.Unavailable("x", "topic"));
    listener.leaseLost("relay/0", messages);
    listener.abandoned("relay/0", messages, "x");
    listener.publisherBroken("relay/0", "threw", error);
    listener.breakerOpened("x");
    listener.breakerClosed();
    listener.storeFailed("relay/0", "claim", error);
    listener.storeRecovered("relay/0");
    listener.callbackFailed("retryPolicy", message, error);
    listener.stopped("relay", 0);
    listener.stopped("relay", 1);
    assertThat(log.lines)
        .hasSizeGreaterThan(12)
        .noneMatch(line -> line.contains("secret"))
        .anyMatch(line -> line.startsWith("ERROR message 7") && line.contains("blocks its key"));
  }

  @Test
  void whatRepeatsIsAWarningOnce() {
    RuntimeException down = new IllegalStateException("down");
    for (int i = 0; i < 100; i++) {
      listener.storeFailed("relay/0", "claim", down);
      listener.retried(message, new Decision.Retry(Duration.ZERO, true, "refused"));
      listener.unavailable(message, new Result.Unavailable("no topic", "orders"));
    }
    listener.storeFailed("relay/1", "settle", new IllegalStateException("another"));
    assertThat(log.lines)
        .filteredOn(line -> line.startsWith("WARN"))
        .containsExactly(
            "WARN claim failed on relay/0: down",
            "WARN " + message + " is tried again in PT0S: refused",
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
        listener.storeFailed("relay/" + i % 3, i % 2 == 0 ? "claim" : "settle", down);
      }
      listener.storeFailed("relay", "housekeep", down);
      listener.storeFailed("relay", "listen", down);
      minutesLater(1);
    }
    listener.storeRecovered("relay/1");
    listener.storeRecovered("relay/2");
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
    listener.storeFailed("relay/0", "work", bug);
    minutesLater(2);
    listener.storeFailed("relay/0", "work", bug);
    assertThat(log.lines).hasSize(2);
    assertThat(log.causes).containsExactly(bug, null);
  }

  @Test
  void anOutageOfTheBrokerIsCountedToo() {
    log.debug = false;
    Result.Unavailable gone = new Result.Unavailable("kafka:9092 does not answer", null);
    for (int minute = 0; minute < 3; minute++) {
      listener.unavailable(message, gone);
      listener.unavailable(message, gone);
      if (minute == 0) {
        listener.breakerOpened(gone.error());
      }
      listener.retried(message, new Decision.Retry(Duration.ZERO, false, gone.error()));
      minutesLater(1);
    }
    listener.breakerClosed();
    listener.breakerClosed();
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
    listener.unavailable(message, orders);
    listener.unavailable(Samples.stored(8, "b"), orders);
    minutesLater(1);
    listener.delivered(Samples.stored(8, "b"));
    listener.delivered(message);
    listener.delivered(message);
    assertThat(log.lines)
        .filteredOn(line -> !line.startsWith("TRACE"))
        .containsExactly(
            "WARN topic orders cannot be reached: no leader",
            "INFO topic orders can be reached again, after 60 s and 2 tries");
  }

  @Test
  void aWrongAddressIsSaidWithTheAddress() {
    log.debug = false;
    listener.brokerUnreachable("kafka:9092", "connection refused");
    listener.brokerUnreachable("kafka:9092", "connection refused");
    minutesLater(1);
    listener.brokerReachable("kafka:9092");
    listener.stoodStill("relay/0", Duration.ofSeconds(31));
    assertThat(log.lines)
        .containsExactly(
            "WARN The broker at kafka:9092 cannot be reached: connection refused",
            "INFO The broker at kafka:9092 answers, after 60 s and 2 tries",
            "WARN relay/0 stood still for PT31S, as when the process is stopped or its machine"
                + " suspended: leases may be lost, and messages delivered again");
  }

  @Test
  void theUndecodableAreNamedByKeyAndSequence() {
    listener.retried(
        Samples.damaged(8, "order 1", 0), new Decision.Retry(Duration.ZERO, true, "bad headers"));
    assertThat(log.lines)
        .containsExactly(
            "WARN message 8 (key order 1, undecodable: headers are not JSON) is tried again in"
                + " PT0S: bad headers");
  }

  @Test
  void afterARecoveryTheSameFailureIsAWarningAgain() {
    RuntimeException down = new IllegalStateException("down");
    listener.storeFailed("relay/0", "claim", down);
    listener.storeRecovered("relay/0");
    listener.storeFailed("relay/0", "claim", down);
    assertThat(log.lines).filteredOn(line -> line.startsWith("WARN")).hasSize(2);
  }

  @Test
  void linesSayWhoAndWhat() {
    listener.leaseLost("relay/0", List.of());
    listener.leaseLost("relay/0", List.of(message, message));
    listener.unavailable(message, new Result.Unavailable("x", null));
    listener.storeFailed("relay/0", "claim", new IllegalStateException());
    listener.callbackFailed("retryPolicy", message, new IllegalStateException("odd"));
    listener.deadLettered(message, new Decision.Dead("x", false));
    listener.stopped("relay", 0);
    listener.stopped("relay", 1);
    assertThat(log.lines)
        .containsExactly(
            "WARN relay/0 lost the lease of 0 messages, first none",
            "WARN relay/0 lost the lease of 2 messages, first " + message,
            "WARN claim failed on relay/0: java.lang.IllegalStateException",
            "WARN retryPolicy failed on a message: odd",
            "ERROR " + message + " is a dead letter: x",
            "INFO Relay relay stopped",
            "WARN Relay relay stopped, but 1 of its threads are still inside the store or the"
                + " publisher; what they hold is claimed again after its lease");
  }
}
