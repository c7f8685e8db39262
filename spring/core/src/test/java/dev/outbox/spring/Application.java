package dev.outbox.spring;

import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.shop.Shop;
import dev.outbox.spring.shop.ShopApplication;
import dev.outbox.testing.RecordingPublisher;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** An application, running: the shop, or another one. */
public record Application(ConfigurableApplicationContext context) implements AutoCloseable {
  private static final List<String> DEFAULTS =
      List.of(
          "--spring.main.banner-mode=off",
          "--logging.level.org.apache.kafka=error", // a line for each try during an outage
          "--management.otlp.metrics.export.enabled=false", // nobody is there to take them
          "--spring.data.jpa.repositories.enabled=false", // there are none
          "--spring.jpa.hibernate.ddl-auto=update",
          "--spring.flyway.enabled=false",
          "--shop.recording=true",
          "--outbox.publisher=kafka", // those of the others are there too
          "--outbox.schema-mode=migrate");

  static final String WITHOUT_JPA =
      "--spring.autoconfigure.exclude="
          + "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
          + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration";

  static Application start(Schema schema, String... more) {
    return start(schema, List.of(ShopApplication.class), more);
  }

  public static Application start(Schema schema, List<Class<?>> sources, String... more) {
    return start(schema, sources, context -> {}, more);
  }

  /**
   * @param initializer is called before there are beans
   * @param more of one name the last counts
   */
  static Application start(
      Schema schema,
      List<Class<?>> sources,
      ApplicationContextInitializer<GenericApplicationContext> initializer,
      String... more) {
    Map<String, String> arguments = new LinkedHashMap<>();
    Stream.of(schema.arguments(), DEFAULTS, List.of(more))
        .flatMap(List::stream)
        .forEach(argument -> arguments.put(argument.replaceFirst("=.*", ""), argument));
    return run(sources, initializer, arguments.values().toArray(String[]::new));
  }

  /** With these arguments alone. */
  public static Application run(Class<?> source, String... arguments) {
    return run(List.of(source), context -> {}, arguments);
  }

  private static Application run(
      List<Class<?>> sources,
      ApplicationContextInitializer<GenericApplicationContext> initializer,
      String... arguments) {
    return new Application(
        new SpringApplicationBuilder(sources.toArray(Class[]::new))
            .web(WebApplicationType.NONE)
            .initializers(initializer)
            .run(arguments));
  }

  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  Shop shop() {
    return bean(Shop.class);
  }

  public JdbcTemplate jdbc() {
    return bean(JdbcTemplate.class);
  }

  /** Of the only manager. */
  public TransactionTemplate transaction() {
    return new TransactionTemplate(bean(PlatformTransactionManager.class));
  }

  TransactionTemplate transaction(String manager) {
    return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
  }

  /** Does it in a transaction that commits. */
  public static void commit(TransactionTemplate transaction, Runnable work) {
    transaction.executeWithoutResult(status -> work.run());
  }

  /** Does it in a transaction that is rolled back. */
  public static void rollBack(TransactionTemplate transaction, Runnable work) {
    transaction.executeWithoutResult(
        status -> {
          work.run();
          status.setRollbackOnly();
        });
  }

  /** In a transaction: auto-commit may be off. */
  public void execute(String sql) {
    commit(transaction(), () -> jdbc().execute(sql));
  }

  /** Its payload says its type. */
  public static OutboxMessage message(String aggregate, String id, String eventType) {
    return OutboxMessage.builder()
        .aggregate(aggregate, id)
        .eventType(eventType)
        .payload("{\"type\":\"%s\"}".formatted(eventType))
        .build();
  }

  public static OutboxMessage message(String id, String eventType) {
    return message("order", id, eventType);
  }

  /** Into the transaction of this thread. */
  void append(OutboxMessage message) {
    bean(JoinedOutbox.class).append(message);
  }

  /** What the recording publisher got, as event types with the aggregate's id. */
  public List<String> delivered() {
    return bean(RecordingPublisher.class).delivered().stream()
        .map(stored -> stored.message())
        .map(message -> message.eventType() + " " + message.aggregateId())
        .toList();
  }

  int messages() {
    return jdbc().queryForObject("select count(*) from outbox_message", Integer.class);
  }

  @Override
  public void close() {
    context.close();
  }
}
