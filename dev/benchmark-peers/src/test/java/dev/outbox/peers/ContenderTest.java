package dev.outbox.peers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.dev.database.StartedServer;
import dev.outbox.dev.database.StoreKind;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ContenderTest {
  private static StartedServer server;

  @BeforeAll
  static void start() {
    System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    server = StoreKind.POSTGRES.start();
  }

  @AfterAll
  static void end() {
    System.clearProperty("org.springframework.boot.logging.LoggingSystem");
    server.close();
  }

  static Stream<Contender> contenders() {
    return Stream.concat(Peers.ALL.stream(), Faults.CONTENDERS.stream()).distinct();
  }

  @ParameterizedTest
  @MethodSource("contenders")
  @DisplayName("each contender's application starts, and publishes what it commits")
  void publishes(Contender contender) throws Exception {
    Recorder recorder = Recorder.opened(message -> {});
    try (Schema schema = new Schema(server.address());
        Schema.Pool pool = schema.pool(contender.connections());
        App app = contender.run(pool.dataSource(), recorder)) {
      app.begin();
      app.place(OrderPlaced.of("k", 0));
      assertThat(recorder.awaitCall(Duration.ofMinutes(1))).as(contender.name()).isTrue();
    } finally {
      recorder.close();
    }
  }
}
