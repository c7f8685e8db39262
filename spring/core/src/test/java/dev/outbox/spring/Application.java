package dev.outbox.spring;

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

/** The shop, running. */
record Application(ConfigurableApplicationContext context) implements AutoCloseable {
  private static final List<String> DEFAULTS =
      List.of(
          "--spring.main.banner-mode=off",
          "--logging.level.org.apache.kafka=error", // a line for each try during an outage
          "--management.otlp.metrics.export.enabled=false", // nobody is there to take them
          "--spring.jpa.hibernate.ddl-auto=update",
          "--spring.flyway.enabled=false",
          "--outbox.publisher=kafka", // those of the others are there too
          "--outbox.schema-mode=migrate");

  static final String[] WITHOUT_JPA = {
    "--spring.data.jpa.repositories.enabled=false",
    "--spring.autoconfigure.exclude="
        + "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
        + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration"
  };

  /** With a recording publisher. */
  static Application start(Schema schema, String... more) {
    return start(schema, List.of(ShopApplication.class), "--shop.recording=true", more);
  }

  /** Publishing to Kafka. */
  static Application startWithKafka(Schema schema, String bootstrapServers, String... more) {
    return start(
        schema,
        List.of(ShopApplication.class),
        "--spring.kafka.bootstrap-servers=" + bootstrapServers,
        more);
  }

  static Application start(
      Schema schema, List<Class<?>> sources, String publisher, String... more) {
    return start(schema, sources, context -> {}, publisher, more);
  }

  /**
   * @param initializer is called before there are beans
   */
  static Application start(
      Schema schema,
      List<Class<?>> sources,
      ApplicationContextInitializer<GenericApplicationContext> initializer,
      String publisher,
      String... more) {
    Map<String, String> arguments = new LinkedHashMap<>();
    for (String argument :
        Stream.of(schema.arguments(), DEFAULTS, List.of(publisher), List.of(more))
            .flatMap(List::stream)
            .toList()) {
      arguments.put(argument.replaceFirst("=.*", ""), argument); // the last of one name counts
    }
    return new Application(
        new SpringApplicationBuilder(sources.toArray(Class[]::new))
            .web(WebApplicationType.NONE)
            .initializers(initializer)
            .run(arguments.values().toArray(String[]::new)));
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  Shop shop() {
    return bean(Shop.class);
  }

  JdbcTemplate jdbc() {
    return bean(JdbcTemplate.class);
  }

  /** What the recording publisher got, as event types with the aggregate's id. */
  List<String> delivered() {
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
