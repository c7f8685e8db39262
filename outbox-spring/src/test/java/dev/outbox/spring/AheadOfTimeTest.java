package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.testing.RecordingPublisher;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The beans as a native image has them: from code that was generated when it was built. */
@ExtendWith(Servers.Resolver.class)
class AheadOfTimeTest {

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {
    @Bean
    RecordingPublisher publisher() {
      return new RecordingPublisher();
    }
  }

  @Test
  @CompileWithForkedClassLoader
  void theOutboxRuns(Servers servers) throws SQLException {
    Schema schema = servers.schema();
    AnnotationConfigApplicationContext built = new AnnotationConfigApplicationContext();
    configure(built.getEnvironment(), schema);
    built.register(App.class);
    TestGenerationContext generated = new TestGenerationContext(App.class);
    ClassName initializer =
        new ApplicationContextAotGenerator().processAheadOfTime(built, generated);
    generated.writeGeneratedContent();
    TestCompiler.forSystem()
        .with(generated)
        .compile(
            compiled -> {
              try (GenericApplicationContext context = new GenericApplicationContext()) {
                configure(context.getEnvironment(), schema);
                start(
                    context,
                    compiled.getInstance(
                        ApplicationContextInitializer.class, initializer.canonicalName()));
                appendsAndDelivers(context);
              }
            });
  }

  private static void configure(ConfigurableEnvironment environment, Schema schema) {
    environment
        .getPropertySources()
        .addFirst(
            new MapPropertySource(
                "test",
                Map.of(
                    "spring.datasource.url", schema.url(),
                    "spring.datasource.username", schema.user(),
                    "spring.datasource.password", schema.password(),
                    "spring.flyway.enabled", "false",
                    "outbox.schema-mode", "migrate")));
  }

  @SuppressWarnings("unchecked")
  private static void start(
      GenericApplicationContext context, ApplicationContextInitializer<?> initializer) {
    ((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
    context.refresh();
  }

  private static void appendsAndDelivers(GenericApplicationContext context) {
    JoinedOutbox outbox = context.getBean(JoinedOutbox.class);
    new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status ->
                outbox.append(
                    OutboxMessage.builder()
                        .aggregate("order", "order-1")
                        .eventType("OrderPlaced")
                        .payload("{}")
                        .build()));
    RecordingPublisher publisher = context.getBean(RecordingPublisher.class);
    await().untilAsserted(() -> assertThat(publisher.delivered()).hasSize(1));
  }
}
