package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.JoinedOutbox;
import dev.outbox.spring.Servers.Schema;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
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
    static final BlockingQueue<Mail> MAILS = new LinkedBlockingQueue<>();

    record Mail(String type) {}

    @OutboxHandler
    public void send(Mail mail) {
      MAILS.add(mail);
    }
  }

  @Test
  @CompileWithForkedClassLoader
  void theOutboxRuns(Servers servers) throws Exception {
    Schema schema = servers.schema();
    try (HttpEndpoint endpoint = new HttpEndpoint()) {
      builtAheadRuns(schema, endpoint);
    }
  }

  private static void builtAheadRuns(Schema schema, HttpEndpoint endpoint) {
    AnnotationConfigApplicationContext built = new AnnotationConfigApplicationContext();
    configure(built.getEnvironment(), schema, endpoint);
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
                configure(context.getEnvironment(), schema, endpoint);
                start(
                    context,
                    compiled.getInstance(
                        ApplicationContextInitializer.class, initializer.canonicalName()));
                JoinedOutbox outbox = context.getBean(JoinedOutbox.class);
                new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                    .executeWithoutResult(
                        status ->
                            outbox.append(
                                List.of(
                                    Application.message("1", "OrderPlaced"),
                                    Application.message("1", "Mail"))));
                await()
                    .untilAsserted(
                        () ->
                            assertThat(endpoint.requests)
                                .extracting(HttpEndpoint.Request::body)
                                .contains("{\"type\":\"OrderPlaced\"}"));
                await().untilAsserted(() -> assertThat(App.MAILS).contains(new App.Mail("Mail")));
              }
            });
  }

  private static void configure(
      ConfigurableEnvironment environment, Schema schema, HttpEndpoint endpoint) {
    TestPropertyValues.of(schema.arguments().stream().map(argument -> argument.substring(2)))
        .and(
            Application.WITHOUT_JPA.substring(2),
            "spring.data.jpa.repositories.enabled=false",
            "spring.flyway.enabled=false",
            "outbox.publisher=http",
            "outbox.http.destination=" + endpoint.url(),
            "outbox.http.cloud-events-source=https://shop.example",
            "outbox.schema-mode=migrate")
        .applyTo(environment);
  }

  @SuppressWarnings("unchecked")
  private static void start(
      GenericApplicationContext context, ApplicationContextInitializer<?> initializer) {
    ((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
    context.refresh();
  }
}
