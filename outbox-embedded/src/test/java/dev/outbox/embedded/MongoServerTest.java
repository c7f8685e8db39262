package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;

class MongoServerTest {
  private static final String PROPERTY = "outbox.test.mongo.url";

  @Test
  @DisplayName("the user's own server comes first, and its password is not shown")
  void usersOwn() {
    String before = System.getProperty(PROPERTY);
    String url = "mongodb://me:secret@mine/?replicaSet=rs0";
    System.setProperty(PROPERTY, url);
    try (MongoServer server = MongoServer.start()) {
      assertThat(server.connectionString()).isEqualTo(url);
      assertThat(server.toString()).doesNotContain("secret");
    } finally {
      if (before == null) {
        System.clearProperty(PROPERTY);
      } else {
        System.setProperty(PROPERTY, before);
      }
    }
  }

  @Test
  @DisplayName("without MongoDB the tests are skipped, with what would run them")
  void none() {
    assumeThat(Machine.setting(PROPERTY)).isNull();
    assumeThat(DockerClientFactory.instance().isDockerAvailable()).isFalse();
    assertThatThrownBy(MongoServer::start)
        .isInstanceOf(TestAbortedException.class)
        .hasMessage(
            "no MongoDB to test with: there is no embedded one. Name one with"
                + " -Doutbox.test.mongo.url=mongodb://…/?replicaSet=…, or run Docker");
  }
}
