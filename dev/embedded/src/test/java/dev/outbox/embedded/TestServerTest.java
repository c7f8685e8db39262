package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.testcontainers.DockerClientFactory;

class TestServerTest {
  private static final Map<String, Supplier<TestServer>> SERVERS =
      Map.of(
          "kafka", TestServer::kafka,
          "rabbitmq", TestServer::rabbit,
          "nats", TestServer::nats,
          "redis", TestServer::redis,
          "mongo", TestServer::mongo);

  @Test
  @DisplayName(
      "the user's own server comes first, and its address, which may hold a password, is not shown")
  void usersOwn() {
    String address = "redis://me:secret@127.0.0.1:1";
    DatabaseServerTest.with(
        Map.of("outbox.test.redis.url", address),
        () -> {
          try (TestServer server = TestServer.redis()) {
            assertThat(server.address()).isEqualTo(address);
            assertThat(server.embedded()).isEmpty();
            assertThat(server.toString()).doesNotContain("secret");
          }
        });
  }

  @Test
  @DisplayName("one that does not answer is asked once, and what names it is said")
  void doesNotAnswer() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String address =
          "mongodb://me:secret@127.0.0.1:%d/?serverSelectionTimeoutMS=300"
              .formatted(silent.getLocalPort());
      Set<Throwable> causes = new HashSet<>();
      DatabaseServerTest.with(
          Map.of("outbox.test.mongo.url", address),
          () -> {
            for (int i = 0; i < 3; i++) {
              Throwable thrown = catchThrowable(TestServer::mongo);
              assertThat(thrown)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessage(
                      "the MongoDB that outbox.test.mongo.url names does not answer: start it, or name another");
              assertThat(Throwables.getStackTrace(thrown)).doesNotContain("secret");
              causes.add(thrown.getCause());
            }
          });
      assertThat(causes).as("what came of asking").hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "kafka, apache/kafka:0",
    "rabbitmq, rabbitmq:0",
    "nats, nats:0",
    "redis, redis:0",
    "mongo, mongo:0"
  })
  @DisplayName("who names an image gets a container of it, or no server at all")
  void image(String name, String image) {
    assumeThat(Machine.setting("outbox.test." + name + ".url")).isNull();
    assumeThat(Machine.setting("outbox.test." + name + ".bootstrap")).isNull();
    assumeThat(DockerClientFactory.instance().isDockerAvailable()).isFalse();
    DatabaseServerTest.with(
        Map.of("outbox.test." + name + ".image", image),
        () ->
            assertThatThrownBy(SERVERS.get(name)::get).hasMessageContaining("Docker environment"));
  }
}
