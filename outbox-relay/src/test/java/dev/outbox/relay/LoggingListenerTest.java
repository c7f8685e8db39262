package dev.outbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Decision;
import dev.outbox.spi.StoredMessage;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Reads what slf4j-simple writes to System.err; only errors, see simplelogger.properties. */
class LoggingListenerTest {
  private final LoggingListener listener = new LoggingListener();

  private static String logged(Runnable events) {
    PrintStream before = System.err;
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    try {
      events.run();
    } finally {
      System.setErr(before);
    }
    return written.toString(StandardCharsets.UTF_8);
  }

  @Test
  void namesADeadLetterWithoutPayloadAndHeaders() {
    StoredMessage message = Samples.stored(7, "order 1");
    String text =
        logged(
            () -> listener.deadLettered(message, new Decision.Dead("too large for topic", true)));
    assertThat(text)
        .contains("message 7", "order 1", "blocks its key", "too large for topic")
        .doesNotContain("secret");
  }
}
