package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Decision;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

class LoggingListenerTest {

  private static final class Lines extends LegacyAbstractLogger {
    private final List<String> lines = new ArrayList<>();

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String pattern, Object[] arguments, Throwable cause) {
      lines.add(level + " " + MessageFormatter.basicArrayFormat(pattern, arguments));
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
      return true;
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
  private final LoggingListener listener = new LoggingListener(log);
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
    listener.storeFailed("relay/0", "claim", new IllegalStateException("another"));
    assertThat(log.lines)
        .filteredOn(line -> line.startsWith("WARN"))
        .containsExactly(
            "WARN claim failed on relay/0: down",
            "WARN " + message + " is tried again in PT0S: refused",
            "WARN orders cannot be reached: no topic",
            "WARN claim failed on relay/0: another");
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
