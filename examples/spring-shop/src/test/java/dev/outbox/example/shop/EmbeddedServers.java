package dev.outbox.example.shop;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.TestServer;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.util.function.SingletonSupplier;

/**
 * A PostgreSQL and a Kafka for whoever names none: each is started when its address is first asked
 * for, and ends with this JVM. Registered in META-INF/spring.factories of the tests, so that it is
 * there in each test, and in {@link TestShopApplication}.
 */
final class EmbeddedServers
    implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  private static final Supplier<DatabaseServer> DATABASE =
      SingletonSupplier.of(DatabaseServer::postgres);
  private static final Supplier<TestServer> KAFKA = SingletonSupplier.of(TestServer::kafka);

  private static final CountDownLatch CLOSED = new CountDownLatch(1);

  static {
    SpringApplication.getShutdownHandlers().add(CLOSED::countDown);
    EmbeddedServer.beforeShutdown(EmbeddedServers::awaitClosed);
  }

  /** Spring's contexts are closed at the JVM's shutdown, and need their servers until then. */
  private static void awaitClosed() {
    try {
      CLOSED.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    ConfigurableEnvironment environment = context.getEnvironment();
    boolean database = !environment.containsProperty("spring.datasource.url");
    boolean kafka = !environment.containsProperty("spring.kafka.bootstrap-servers");
    environment
        .getPropertySources()
        .addLast(
            new PropertySource<Object>("embedded servers") {
              @Override
              public Object getProperty(String name) {
                return switch (name) {
                  case "spring.datasource.url" -> database ? DATABASE.get().jdbcUrl() : null;
                  case "spring.datasource.username" -> database ? DATABASE.get().user() : null;
                  case "spring.datasource.password" -> database ? DATABASE.get().password() : null;
                  case "spring.kafka.bootstrap-servers" -> kafka ? KAFKA.get().address() : null;
                  default -> null;
                };
              }
            });
  }
}
