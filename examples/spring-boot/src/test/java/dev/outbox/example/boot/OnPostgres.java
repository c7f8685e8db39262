package dev.outbox.example.boot;

import dev.outbox.embedded.DatabaseServer;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/** Gives a test's context a database, which ends with this JVM. */
final class OnPostgres implements ApplicationContextInitializer<ConfigurableApplicationContext> {
  private static final DatabaseServer DATABASE = DatabaseServer.postgres();

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    TestPropertyValues.of(
            "spring.datasource.url=" + DATABASE.jdbcUrl(),
            "spring.datasource.username=" + DATABASE.user(),
            "spring.datasource.password=" + DATABASE.password())
        .applyTo(context);
  }
}
