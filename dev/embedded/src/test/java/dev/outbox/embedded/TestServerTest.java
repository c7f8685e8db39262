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
import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;

class TestServerTest {
  private static final String PROPERTY = "outbox.test.mongo.url";

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
    String given = Machine.setting(PROPERTY);
    assumeThat(given).as("a MongoDB that is named by %s", PROPERTY).isNotNull();
    try (TestServer server = TestServer.mongo()) {
      assertThat(server.address()).isEqualTo(given);
      assertThat(server.toString()).doesNotContain(given);
    }
  }

  @Test
  @DisplayName("one that does not answer is asked once, and what names it is said")
  void doesNotAnswer() throws Exception {
    String before = System.getProperty(PROPERTY);
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + silent.getLocalPort();
      System.setProperty(
          PROPERTY, "mongodb://me:secret@%s/?serverSelectionTimeoutMS=300".formatted(address));
      Set<Throwable> causes = new HashSet<>();
      for (int i = 0; i < 3; i++) {
        Throwable thrown = catchThrowable(TestServer::mongo);
        assertThat(thrown)
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(
                "%s names a MongoDB at %s, which does not answer: start it, or name another",
                PROPERTY, address);
        assertThat(Throwables.getStackTrace(thrown)).doesNotContain("secret");
        causes.add(thrown.getCause());
      }
      assertThat(causes).as("what came of asking").hasSize(1);
    } finally {
      if (before == null) {
        System.clearProperty(PROPERTY);
      } else {
        System.setProperty(PROPERTY, before);
      }
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
    String property = "outbox.test." + name + ".image";
    System.setProperty(property, image);
    try {
      assertThatThrownBy(SERVERS.get(name)::get).hasMessageContaining("Docker environment");
    } finally {
      System.clearProperty(property);
    }
  }

  @Test
  @DisplayName("without MongoDB the tests are skipped, with what would run them")
  void none() {
    assumeThat(Machine.setting(PROPERTY)).isNull();
    assumeThat(DockerClientFactory.instance().isDockerAvailable()).isFalse();
    assertThatThrownBy(TestServer::mongo)
        .isInstanceOf(TestAbortedException.class)
        .hasMessage(
            "no MongoDB to test with: there is no embedded one. Name one with"
                + " -Doutbox.test.mongo.url=mongodb://…/?replicaSet=…, or run Docker");
  }
}
