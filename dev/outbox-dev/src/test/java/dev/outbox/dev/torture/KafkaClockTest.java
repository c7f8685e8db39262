package dev.outbox.dev.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/** Kafka's clients in a process whose wall clock goes back, with a real broker. */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KafkaClockTest {
  private static final String PROCESS = "publisher";
  private static final String DELIVERED = "Delivered";

  @Test
  @DisplayName("a clock that goes back by half an hour while the broker is away stops nothing")
  void goesBack(@TempDir Path directory) throws Exception {
    Clocks clocks = clocks(directory);
    try (EmbeddedKafka kafka = EmbeddedKafka.start();
        ChildJvm child = child(kafka, clocks, directory.resolve("log"))) {
      await().atMost(Duration.ofMinutes(2)).until(() -> publish(child).equals(DELIVERED));
      clocks.shift(PROCESS, Duration.ofMinutes(30));
      assertThat(publish(child)).isEqualTo(DELIVERED);
      kafka.kill();
      assertThat(publish(child)).isEqualTo("Unavailable");
      clocks.shift(PROCESS, Duration.ZERO);
      kafka.restart();
      await().atMost(Duration.ofMinutes(3)).until(() -> publish(child).equals(DELIVERED));
    }
  }

  @Test
  @DisplayName("a clock that was ahead for a moment, which no publish has seen, stops nothing")
  void wasAhead(@TempDir Path directory) throws Exception {
    Clocks clocks = clocks(directory);
    Path log = directory.resolve("log");
    try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
      kafka.kill();
      try (ChildJvm child = child(kafka, clocks, log)) {
        awaitTriesToConnect(log);
        clocks.shift(PROCESS, Duration.ofMinutes(30));
        awaitTriesToConnect(log);
        clocks.shift(PROCESS, Duration.ZERO);
        kafka.restart();
        await().atMost(Duration.ofMinutes(3)).until(() -> publish(child).equals(DELIVERED));
      }
    }
  }

  /** So many that the last one began after this was called. */
  private static void awaitTriesToConnect(Path log) throws IOException {
    long before = triesToConnect(log);
    await().atMost(Duration.ofMinutes(1)).until(() -> triesToConnect(log) >= before + 3);
  }

  private static long triesToConnect(Path log) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.filter(line -> line.contains("Bootstrap broker")).count();
    }
  }

  private static Clocks clocks(Path directory) throws Exception {
    Clocks clocks = new Clocks(directory);
    if (!clocks.canShift) {
      throw new TestAbortedException("skipped: shifting a clock takes Linux and a C compiler, cc");
    }
    return clocks;
  }

  private static ChildJvm child(EmbeddedKafka kafka, Clocks clocks, Path log) throws Exception {
    return ChildJvm.start(
        Main.class,
        Map.of("bootstrap", kafka.bootstrapServers()),
        clocks.environment(PROCESS),
        log);
  }

  private static String publish(ChildJvm child) {
    child.send("");
    return child.line();
  }

  /** Publishes a message for each line that it is sent, and says what became of it. */
  static final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
      System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
      ParentJvm parent = ParentJvm.connect();
      OutboxMessage message =
          OutboxMessage.builder()
              .aggregate("orders", "1")
              .eventType("Placed")
              .payload("{}")
              .build();
      try (KafkaPublisher publisher =
          KafkaPublisher.builder()
              .property("bootstrap.servers", parent.get("bootstrap"))
              .timeout(Duration.ofSeconds(6))
              .build()) {
        for (long sequence = 1; ; sequence++) {
          var unused = parent.command();
          StoredMessage stored = StoredMessage.of(sequence, 0, Instant.now(), message);
          parent.say(publisher.publish(List.of(stored)).get(0).getClass().getSimpleName());
        }
      }
    }
  }
}
