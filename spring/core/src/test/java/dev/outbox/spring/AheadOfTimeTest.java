package dev.outbox.spring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spring.Servers.Schema;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
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
    static final BlockingQueue<Mail> MAILS = new LinkedBlockingQueue<>();

    record Mail(String text) {}

    @OutboxHandler
    public void send(Mail mail) {
      MAILS.add(mail);
    }
  }

  @Test
  @CompileWithForkedClassLoader
  void theOutboxRuns(Servers servers) throws Exception {
    Schema schema = servers.schema();
    HttpServer endpoint =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    BlockingQueue<String> received = new LinkedBlockingQueue<>();
    endpoint.createContext(
        "/order",
        exchange -> {
          received.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    endpoint.start();
    try {
      builtAheadRuns(schema, "http://127.0.0.1:" + endpoint.getAddress().getPort(), received);
    } finally {
      endpoint.stop(0);
    }
  }

  private static void builtAheadRuns(Schema schema, String url, BlockingQueue<String> received) {
    AnnotationConfigApplicationContext built = new AnnotationConfigApplicationContext();
    configure(built.getEnvironment(), schema, url);
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
                configure(context.getEnvironment(), schema, url);
                start(
                    context,
                    compiled.getInstance(
                        ApplicationContextInitializer.class, initializer.canonicalName()));
                append(context, "OrderPlaced", "{}");
                append(context, "Mail", "{\"text\":\"thank you\"}");
                await()
                    .atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(received).contains("{}"));
                await()
                    .atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(App.MAILS).contains(new App.Mail("thank you")));
              }
            });
  }

  private static void configure(ConfigurableEnvironment environment, Schema schema, String url) {
    environment
        .getPropertySources()
        .addFirst(
            new MapPropertySource(
                "test",
                Map.of(
                    "spring.datasource.url",
                    schema.url(),
                    "spring.datasource.username",
                    schema.user(),
                    "spring.datasource.password",
                    schema.password(),
                    "spring.flyway.enabled",
                    "false",
                    "outbox.publisher",
                    "http",
                    "outbox.http.destination",
                    url + "/{aggregateType}",
                    "outbox.http.cloud-events-source",
                    "https://shop.example",
                    "outbox.schema-mode",
                    "migrate")));
  }

  @SuppressWarnings("unchecked")
  private static void start(
      GenericApplicationContext context, ApplicationContextInitializer<?> initializer) {
    ((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
    context.refresh();
  }

  private static void append(GenericApplicationContext context, String type, String payload) {
    JoinedOutbox outbox = context.getBean(JoinedOutbox.class);
    new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
        .executeWithoutResult(
            status ->
                outbox.append(
                    OutboxMessage.builder()
                        .aggregate("order", "order-1")
                        .eventType(type)
                        .payload(payload)
                        .build()));
  }
}
