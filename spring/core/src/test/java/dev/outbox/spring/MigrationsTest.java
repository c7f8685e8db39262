package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.outbox.JoinedOutbox;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.testing.RecordingPublisher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/**
 * The application's own migrations beside the outbox's. That an application without any starts,
 * with Liquibase on the class path, the other tests show.
 */
@ExtendWith(Servers.Resolver.class)
class MigrationsTest {

  /** Asks for the outbox before anything else; with JPA Flyway would come first in any case. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Early {
    @Bean
    String outboxUser(JoinedOutbox outbox) {
      return "has " + outbox;
    }

    @Bean
    RecordingPublisher publisher() {
      return new RecordingPublisher();
    }
  }

  @Test
  void liquibaseRunsTheChangelogOfTheApplication(Servers servers) throws Exception {
    assumeThat(BootType.find("liquibase", "LiquibaseAutoConfiguration"))
        .as("in Boot 4 Liquibase is a module, and this application does not have it")
        .isPresent();
    try (Application shop =
        Application.start(
            servers.schema(),
            List.of(Early.class),
            Application.WITHOUT_JPA,
            "--spring.liquibase.change-log=classpath:/shop-changelog.sql")) {
      assertThat(shop.jdbc().queryForList("select name from customer", String.class))
          .containsExactly("first");
      assertThat(shop.messages()).isZero();
      assertThat(shop.jdbc().queryForObject("select count(*) from databasechangelog", Long.class))
          .as("the outbox keeps its own books")
          .isEqualTo(1);
    }
  }

  /** The outbox's tables come with the application's, before anything looks for them. */
  @Test
  void flywayMakesTheTablesOfTheOutbox(Servers servers, @TempDir Path migrations) throws Exception {
    Schema schema = servers.schema();
    int version = 0;
    for (String part : List.of("outbox", "archive", "inbox")) {
      Files.copy(
          Path.of("..", "..", "..", "docs", "sql", part + "-postgres.sql"),
          migrations.resolve("V%d__%s.sql".formatted(++version, part)));
    }
    try (Application shop =
        Application.start(
            schema,
            List.of(Early.class),
            Application.WITHOUT_JPA,
            "--spring.flyway.enabled=true",
            "--spring.flyway.locations=filesystem:" + migrations,
            "--outbox.archive=full",
            "--outbox.inbox.enabled=true",
            "--outbox.schema-mode=verify")) {
      assertThat(shop.messages()).isZero();
      assertThat(shop.bean(OutboxRelay.class).isAlive()).isTrue();
    }
  }

  /** The application makes the tables of a further data source by a script of its own. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Further {
    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    DataSourceOutbox billingOutbox(
        OutboxFactory outboxes, @Qualifier("billing") DataSource dataSource) {
      return outboxes.of(dataSource);
    }

    @Bean
    DataSourceScriptDatabaseInitializer billingTables(@Qualifier("billing") DataSource dataSource) {
      DatabaseInitializationSettings script = new DatabaseInitializationSettings();
      script.setSchemaLocations(List.of("file:../../../docs/sql/outbox-postgres.sql"));
      script.setMode(DatabaseInitializationMode.ALWAYS);
      script.setSeparator(ScriptUtils.EOF_STATEMENT_SEPARATOR);
      return new DataSourceScriptDatabaseInitializer(dataSource, script);
    }

    @Qualifier("billing")
    @Bean(defaultCandidate = false)
    DataSource billing(@Value("${billing.url}") String url, Environment environment) {
      return new DriverManagerDataSource(
          url,
          environment.getRequiredProperty("spring.datasource.username"),
          environment.getRequiredProperty("spring.datasource.password"));
    }

    @Bean
    RecordingPublisher publisher() {
      return new RecordingPublisher();
    }
  }

  @Test
  void furtherOutboxesWaitForTheirTablesToo(Servers servers) throws Exception {
    Schema schema = servers.schema();
    Application.start(schema, List.of(Early.class), Application.WITHOUT_JPA).close();
    try (Application shop =
        Application.start(
            schema,
            List.of(Further.class),
            Application.WITHOUT_JPA,
            "--billing.url=" + servers.schema().url(),
            "--outbox.schema-mode=verify")) {
      assertThat(shop.bean(OutboxRelay.class).isAlive()).isTrue();
    }
  }
}
