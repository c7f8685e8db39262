package dev.outbox.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import dev.outbox.testing.RecordingPublisher;
import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.yaml.snakeyaml.Yaml;

/** What a relay on a real PostgreSQL exports, and whether rules, dashboard and page speak of it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ScrapeTest {
  private static final Path DOCS = Path.of("..", "..", "docs");

  /** What Prometheus itself gives to each series. */
  private static final Set<String> OF_THE_TARGET = Set.of("job", "instance");

  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `(outbox\\.[a-z.]+)` \\| (\\w+) \\| ([^|]*)\\|");

  private final DatabaseServer server = DatabaseServer.postgres();
  private final String schema = "meters_" + UUID.randomUUID().toString().substring(0, 8);
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private HikariDataSource pool;
  private PostgresOutboxStore store;
  private OutboxMetrics metrics;
  private Relay relay;
  private Scrape scrape;

  @BeforeAll
  void run() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(server.jdbcUrl());
    config.setUsername(server.user());
    config.setPassword(server.password());
    config.setMinimumIdle(0);
    config.setConnectionInitSql("set search_path to " + schema);
    pool = new HikariDataSource(config);
    execute("create schema " + schema);
    store = PostgresOutboxStore.of(pool);
    store.migrate();
    metrics = OutboxMetrics.builder(store).interval(Duration.ofMillis(100)).build();
    metrics.bindTo(registry);
    RecordingPublisher publisher = new RecordingPublisher();
    publisher.answer(ScrapeTest::answer);
    relay =
        Relay.builder(store, publisher)
            .haltKeyWhenDead(List.of("account"))
            .listener(metrics)
            .build();
    append(message("order", "1"), message("order", "2"), message("invoice", "1"));
    append(message("account", "refused"), message("account", "refused"));
    append(message("order", "late"), message("order", "late"));
    relay.start();
    await().until(() -> value("outbox_keys", Map.of("state", "halted")) == 1);
    await().until(() -> value("outbox_messages", Map.of("status", "blocked")) == 3);
    await().until(() -> value("outbox_delivered_total", Map.of("aggregate_type", "order")) == 2);
    scrape = Scrape.of(registry.scrape());
  }

  @AfterAll
  void stop() {
    relay.close();
    metrics.close();
    execute("drop schema " + schema + " cascade");
    pool.close();
    server.close();
  }

  private static Result answer(StoredMessage message) {
    return switch (message.message().aggregateId()) {
      case "refused" -> Result.rejected("too large");
      case "late" -> Result.unavailable("nobody answers", "topic late");
      default -> Result.delivered();
    };
  }

  private void execute(String sql) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static OutboxMessage message(String type, String id) {
    return OutboxMessage.builder().aggregate(type, id).eventType("Changed").payload("{}").build();
  }

  private void append(OutboxMessage... messages) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      store.append(connection, List.of(messages));
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private double value(String name, Map<String, String> labels) {
    List<Double> found = Scrape.of(registry.scrape()).values(name, labels);
    return found.size() == 1 ? found.get(0) : Double.NaN;
  }

  private static Map<String, Object> yaml(String file) throws IOException {
    return new Yaml().load(Files.readString(DOCS.resolve(file))); // JSON is YAML too
  }

  /** All texts that stand under a key, at any depth. */
  private static void collect(String key, Object value, List<String> found) {
    if (value instanceof Map<?, ?> map) {
      map.forEach(
          (name, inner) -> {
            if (name.equals(key) && inner instanceof String text) {
              found.add(text);
            }
            collect(key, inner, found);
          });
    } else if (value instanceof List<?> list) {
      list.forEach(inner -> collect(key, inner, found));
    }
  }

  private static List<String> expressions(String file) throws IOException {
    List<String> found = new ArrayList<>();
    collect("expr", yaml(file), found);
    return found;
  }

  @TestFactory
  Stream<DynamicTest> everyExpressionFindsItsSeries() throws IOException {
    List<String> alerts = expressions("metrics/alerts.yml");
    List<String> panels = expressions("metrics/dashboard.json");
    assertThat(alerts).hasSizeGreaterThan(6);
    assertThat(panels).hasSizeGreaterThan(15);
    return Stream.concat(alerts.stream(), panels.stream())
        .map(text -> DynamicTest.dynamicTest(text, () -> assertFound(Expression.of(text))));
  }

  private void assertFound(Expression expression) {
    assertThat(expression.selectors()).isNotEmpty();
    Set<String> labels = new HashSet<>(OF_THE_TARGET);
    for (Expression.Selector selector : expression.selectors()) {
      List<Scrape.Series> series =
          scrape.named(selector.metric()).stream()
              .filter(s -> s.labels().entrySet().containsAll(selector.values().entrySet()))
              .toList();
      assertThat(series).as("series of %s", selector).isNotEmpty();
      for (Scrape.Series one : series) {
        labels.addAll(one.labels().keySet());
        Set<String> known = new HashSet<>(one.labels().keySet());
        known.addAll(OF_THE_TARGET);
        assertThat(known).as("labels of %s", one).containsAll(selector.labels());
      }
    }
    assertThat(labels).as("labels of %s", expression).containsAll(expression.groupedBy());
  }

  @Test
  void theRulesAreInTheFormOfPrometheus() throws IOException {
    List<String> alerts = new ArrayList<>();
    for (Object group : (List<?>) yaml("metrics/alerts.yml").get("groups")) {
      for (Object rule : (List<?>) ((Map<?, ?>) group).get("rules")) {
        Map<?, ?> fields = (Map<?, ?>) rule;
        alerts.add((String) fields.get("alert"));
        assertThat(Set.of("alert", "expr", "for", "labels", "annotations"))
            .as("fields of %s", fields)
            .containsAll(fields.keySet().stream().map(String.class::cast).toList());
        assertThat((Map<?, ?>) fields.get("annotations"))
            .extracting(Map::keySet)
            .isEqualTo(Set.of("summary", "description"));
      }
    }
    assertThat(alerts).isNotEmpty().doesNotHaveDuplicates();
  }

  @Test
  void thePageHasEachMeterWithItsTags() throws IOException {
    Map<String, String> described = new TreeMap<>();
    String page = Files.readString(DOCS.resolve("metrics.md"));
    for (Matcher row = ROW.matcher(page); row.find(); ) {
      described.put(row.group(1), (row.group(2) + " " + row.group(3).replace("`", "")).strip());
    }
    Map<String, String> made = new TreeMap<>();
    for (Meter meter : registry.getMeters()) {
      String kind =
          switch (meter.getId().getType()) {
            case DISTRIBUTION_SUMMARY -> "summary";
            case COUNTER -> "counter";
            case TIMER -> "timer";
            default -> "gauge";
          };
      String tags =
          meter.getId().getTags().stream().map(tag -> tag.getKey()).collect(Collectors.joining());
      made.put(meter.getId().getName(), (kind + " " + tags).strip());
    }
    assertThat(described).isEqualTo(made);
  }
}
