package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("One process for several databases")
class SeveralDatabasesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static EmbeddedPostgres orders;
  private static EmbeddedPostgres billing;
  private static DatabaseServer stock;

  @TempDir private Path folder;
  private final Browser browser = new Browser();
  private Endpoint endpoint;
  private String config;

  @BeforeAll
  static void startServers() throws SQLException {
    orders = EmbeddedPostgres.start();
    billing = EmbeddedPostgres.start();
    stock = DatabaseServer.mysql();
    query(stock, "drop schema if exists outbox_of_stock");
    for (DatabaseServer one : new DatabaseServer[] {orders, billing, stock}) {
      String schema = one == stock ? "outbox_of_stock" : "outbox";
      query(one, "create schema " + schema);
      Cli.run(Sql.options(one), "migrate", "--schema=" + schema).done();
    }
  }

  @AfterAll
  static void stopServers() throws SQLException {
    query(stock, "drop schema if exists outbox_of_stock");
    stock.close();
    billing.close();
    orders.close();
  }

  @BeforeEach
  void listen() throws IOException {
    endpoint = new Endpoint(0);
    config =
        """
        databases=orders, billing, stock
        store.schema=outbox
        database.stock.store.schema=outbox_of_stock
        database.stock.relay.workers=1
        server.port=0
        """
            + store("orders", orders)
            + store("billing", billing)
            + store("stock", stock)
            + endpoint.settings("{aggregateId}");
  }

  private static String store(String name, DatabaseServer server) {
    return """
    database.%1$s.store.url=%2$s
    database.%1$s.store.user=%3$s
    database.%1$s.store.password=%4$s
    """
        .formatted(name, server.jdbcUrl(), server.user(), server.password());
  }

  @AfterEach
  void end() {
    endpoint.close();
  }

  private static void query(DatabaseServer server, String sql) throws SQLException {
    List<String> ignored = Sql.query(server, sql);
  }

  private static void append(DatabaseServer server, String id) throws SQLException {
    query(
        server,
        "insert into %s.outbox_message (aggregate_type, aggregate_id, event_type, payload) values ('order', '%s', 'Changed', '')"
            .formatted(server == stock ? "outbox_of_stock" : "outbox", id));
  }

  private void awaitDelivery(String id) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(endpoint.posted).anyMatch(one -> one.startsWith(id + " ")));
  }

  private RelayProcess start(String more) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(config + more));
    return RelayProcess.start(properties);
  }

  private HttpResponse<String> get(RelayProcess process, String path) {
    return browser.get(URI.create(process.url()).resolve(path));
  }

  @Test
  @DisplayName("one that stops holds up no other, is named, and goes on when it is back")
  void oneStops() throws Exception {
    try (RelayProcess process = start("")) {
      append(orders, "orders-1");
      append(billing, "billing-1");
      append(stock, "stock-1");
      awaitDelivery("orders-1");
      awaitDelivery("billing-1");
      awaitDelivery("stock-1");
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () ->
                  assertThat(get(process, "/health/ready").body())
                      .contains("orders relay", "billing relay", "stock relay")
                      .doesNotContain("PROBLEM"));

      billing.stop();
      try {
        append(orders, "orders-2");
        append(stock, "stock-2");
        awaitDelivery("orders-2");
        awaitDelivery("stock-2");
        HttpResponse<String> health = get(process, "/health/ready");
        assertThat(health.statusCode()).isEqualTo(503);
        assertThat(health.body().lines().filter(line -> line.startsWith("PROBLEM: ")))
            .isNotEmpty()
            .allMatch(line -> line.startsWith("PROBLEM: billing "));
        assertThat(get(process, "/health/live").statusCode()).isEqualTo(200);
        assertThat(get(process, "/metrics").body())
            .contains("database=\"orders\"", "database=\"billing\"", "database=\"stock\"");
      } finally {
        billing.restart();
      }
      append(billing, "billing-2");
      awaitDelivery("billing-2");
    }
  }

  @Test
  @DisplayName("one that is away at the start is waited for; all of them away is an error")
  void oneIsAwayAtStart() throws Exception {
    billing.stop();
    try {
      try (RelayProcess process = start("ui.enabled=true\nui.token=t0k3n-of-test\n")) {
        append(orders, "orders-3");
        awaitDelivery("orders-3");
        assertThat(get(process, "/health/ready").body())
            .contains("PROBLEM: billing relay: it has not started: ");
        assertThat(get(process, "/health/live").body()).contains("not started yet");
        assertThat(get(process, "/?token=t0k3n-of-test").body())
            .contains("href=\"./billing/\"", "href=\"./orders/\"", "href=\"./stock/\"");
        await()
            .untilAsserted(
                () -> assertThat(get(process, "/orders/").body()).contains("nothing to do"));
        assertThat(get(process, "/stock/style.css").statusCode()).isEqualTo(200);
        assertThat(get(process, "/style.css").statusCode()).isEqualTo(404);
        billing.restart();
        append(billing, "billing-3");
        awaitDelivery("billing-3");
        await()
            .untilAsserted(
                () ->
                    assertThat(get(process, "/health/ready").body())
                        .containsPattern("billing relay +running"));
        billing.stop();
      }
      config = config.replace(orders.jdbcUrl(), "jdbc:postgresql://127.0.0.1:1/none");
      config = config.replace(stock.jdbcUrl(), "jdbc:mysql://127.0.0.1:1/none");
      assertThatThrownBy(() -> start("").close())
          .isInstanceOf(Failure.class)
          .hasMessageContainingAll(
              "the database orders: ", "; the database billing: ", "; the database stock: ");
    } finally {
      billing.restart();
    }
  }

  @Test
  @DisplayName("doctor looks at all of them, and goes on where one does not answer")
  void doctor() throws Exception {
    Path file = folder.resolve("relay.properties");
    Files.writeString(
        file, config.replace(billing.jdbcUrl(), "jdbc:postgresql://127.0.0.1:1/none"));
    assertThat(Cli.run("doctor", "--config=" + file).failed())
        .contains("PROBLEM: billing relay: ")
        .containsPattern("orders schema +\\S")
        .containsPattern("stock schema +\\S");

    Files.writeString(
        file,
        config.replace(
            billing.jdbcUrl(), billing.jdbcUrl() + "?options=-c%20statement_timeout=500ms"));
    try (Connection connection = Sql.connect(billing);
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("lock table outbox.outbox_message in access exclusive mode");
      assertThat(Cli.run("doctor", "--config=" + file).out())
          .contains("PROBLEM: billing relay: ")
          .containsPattern("stock schema +\\S");
    }
  }
}
