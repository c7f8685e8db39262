package dev.outbox.spring.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import dev.outbox.spring.Servers;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** A DataSource and MongoDB in one application, and stores for both. */
@ExtendWith({Servers.Resolver.class, OutputCaptureExtension.class})
class SeveralStoresTest {

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class App {}

  @Test
  void haveToBeToldApart(Servers servers, CapturedOutput output) throws Exception {
    assertThatThrownBy(() -> start(servers, "--spring.main.lazy-initialization=true"));
    assertThat(output.getAll())
        .contains("There are two databases for the outbox, a DataSource and MongoDB")
        .contains("Set outbox.store=mongo, or to the name of the other store");
    try (ConfigurableApplicationContext context = start(servers, "--outbox.store=postgres")) {
      assertThat(context.getBean(MongoClient.class)).isNotNull();
      assertThat(context.containsBean("outboxJdbcStore")).isTrue();
      assertThat(context.containsBean("outboxMongoStore")).isFalse();
    }
    try (ConfigurableApplicationContext context = start(servers, "--outbox.store=mongo")) {
      assertThat(context.containsBean("outboxJdbcStore")).isFalse();
      assertThat(context.containsBean("outboxMongoStore")).isTrue();
    }
  }

  @Test
  void haveToBeToldApartForAnInboxToo(Servers servers, CapturedOutput output) throws Exception {
    String[] inboxOnly = {"--outbox.enabled=false", "--outbox.inbox.enabled=true"};
    assertThatThrownBy(() -> start(servers, inboxOnly));
    assertThat(output.getAll())
        .contains("There are two databases for the outbox, a DataSource and MongoDB");
    try (ConfigurableApplicationContext context =
        start(servers, inboxOnly[0], inboxOnly[1], "--outbox.store=postgres")) {
      assertThat(context.containsBean("outboxJdbcInbox")).isTrue();
      assertThat(context.containsBean("outboxMongoInbox")).isFalse();
    }
  }

  private static ConfigurableApplicationContext start(Servers servers, String... more)
      throws Exception {
    String[] arguments =
        Stream.concat(
                servers.schema().arguments().stream(),
                Stream.concat(Stream.of("--outbox.schema-mode=none"), Stream.of(more)))
            .toArray(String[]::new);
    return new SpringApplicationBuilder(App.class).web(WebApplicationType.NONE).run(arguments);
  }
}
