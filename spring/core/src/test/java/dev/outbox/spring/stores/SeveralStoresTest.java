package dev.outbox.spring.stores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spring.Application;
import dev.outbox.spring.Servers;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

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
    assertThat(beans(servers, "--outbox.store=postgres"))
        .contains("mongo", "outboxJdbcStore")
        .doesNotContain("outboxMongoStore");
    assertThat(beans(servers, "--outbox.store=mongo"))
        .contains("outboxMongoStore")
        .doesNotContain("outboxJdbcStore");
  }

  @Test
  void haveToBeToldApartForAnInboxToo(Servers servers, CapturedOutput output) throws Exception {
    String[] inboxOnly = {"--outbox.enabled=false", "--outbox.inbox.enabled=true"};
    assertThatThrownBy(() -> start(servers, inboxOnly));
    assertThat(output.getAll())
        .contains("There are two databases for the outbox, a DataSource and MongoDB");
    assertThat(beans(servers, inboxOnly[0], inboxOnly[1], "--outbox.store=postgres"))
        .contains("outboxJdbcInbox")
        .doesNotContain("outboxMongoInbox");
  }

  private static List<String> beans(Servers servers, String... more) throws Exception {
    try (Application application = start(servers, more)) {
      return List.of(application.context().getBeanDefinitionNames());
    }
  }

  private static Application start(Servers servers, String... more) throws Exception {
    return Application.run(
        App.class,
        Stream.of(servers.schema().arguments(), List.of("--outbox.schema-mode=none"), List.of(more))
            .flatMap(List::stream)
            .toArray(String[]::new));
  }
}
