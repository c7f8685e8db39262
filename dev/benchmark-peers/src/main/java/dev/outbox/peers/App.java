package dev.outbox.peers;

import java.time.Clock;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An application with Spring Boot and an outbox, as the users of all contenders have it. Safe for
 * use by many threads.
 */
abstract class App implements AutoCloseable {
  /** To be filled in: its schema. */
  static final String BUSINESS_TABLE =
      """
      create table %s.business (
        id         bigint generated always as identity primary key,
        customer   text not null,
        amount     bigint not null,
        placed_at  timestamptz not null default clock_timestamp()
      )
      """;

  private static final String BUSINESS = "insert into business (customer, amount) values (?, ?)";

  final ConfigurableApplicationContext context;
  final JdbcTemplate jdbc;
  private final TransactionTemplate transactions;

  App(
      Class<?> configuration,
      Map<String, Object> properties,
      DataSource dataSource,
      Clock clock,
      @Nullable Recorder recorder) {
    context =
        new SpringApplicationBuilder(configuration)
            .web(WebApplicationType.NONE)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            .registerShutdownHook(false)
            .properties(properties)
            .initializers(
                c -> {
                  GenericApplicationContext beans = (GenericApplicationContext) c;
                  beans.registerBean(DataSource.class, () -> dataSource);
                  beans.registerBean(Clock.class, () -> clock);
                  if (recorder != null) {
                    beans.registerBean(Recorder.class, () -> recorder);
                  }
                })
            .run();
    jdbc = context.getBean(JdbcTemplate.class);
    transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
  }

  /** Begins to publish, where that does not begin by itself. */
  void begin() {}

  /**
   * Goes through what an application that has ended left behind, where that needs to be asked for.
   */
  void submitBacklog() {}

  /** In the current transaction. */
  abstract void append(OrderPlaced message);

  /** A row of the business, so that there is a reason for a message; in the current transaction. */
  final void business(OrderPlaced message) {
    jdbc.update(BUSINESS, message.key(), message.number());
  }

  /** One transaction; {@code work} appends. */
  final void transaction(Runnable work) {
    transactions.executeWithoutResult(status -> work.run());
  }

  /** A transaction with one message and its row. */
  final void place(OrderPlaced message) {
    transaction(
        () -> {
          append(message);
          business(message);
        });
  }

  @Override
  public void close() {
    context.close();
  }
}
