package dev.outbox.cli;

import dev.outbox.store.postgres.PostgresStoreTck;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The store's TCK in a user's own database. It makes schemas whose names begin with one that nobody
 * else uses, and names its connections alike: so whatever is left when it is interrupted can be
 * found and removed.
 */
@Command(
    name = "tck",
    mixinStandardHelpOptions = true,
    description = {
      "Check in your own database that the store keeps its contract, rule by rule.",
      "The user must be allowed to create schemas; what is made is removed again."
    })
final class TckCommand implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // set by picocli
  private DatabaseOptions database;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  private CommandSpec spec;

  @Override
  public Integer call() {
    Logs.off();
    DataSource dataSource = database.connect();
    String name = "outbox_tck_" + UUID.randomUUID().toString().substring(0, 8);
    checkMayCreateSchemas(dataSource, name);
    System.setProperty("outbox.test.postgres.url", named(database.url(), name));
    System.setProperty("outbox.test.postgres.user", database.user());
    System.setProperty("outbox.test.postgres.password", database.password());
    System.setProperty("outbox.test.postgres.schema", name);
    PrintWriter out = spec.commandLine().getOut();
    try (Cleanup ignored = Cleanup.atEnd(() -> removeSchemas(dataSource, name))) {
      return run(PostgresStoreTck.class, out);
    }
  }

  /** Runs a TCK class and prints the report. */
  static int run(Class<?> tck, PrintWriter out) {
    AtomicInteger count = new AtomicInteger();
    boolean terminal = Terminal.isThere();
    TckReport report =
        new TckReport(
            () -> {
              if (terminal && !Cleanup.interrupted()) {
                out.print("\r" + count.incrementAndGet() + " tests");
                out.flush();
              }
            });
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(tck))
            .build();
    LauncherFactory.create().execute(request, report);
    if (terminal) {
      out.print("\r");
    }
    report.print(out);
    out.flush();
    return report.failed() ? Main.CHECK_FAILED : 0;
  }

  private static String named(String url, String name) {
    return url + (url.contains("?") ? "&" : "?") + "ApplicationName=" + name;
  }

  private static void checkMayCreateSchemas(DataSource dataSource, String name) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("create schema " + name);
      statement.execute("drop schema " + name);
    } catch (SQLException e) {
      throw new Failure(
          "no schema can be made in this database: %s; grant CREATE on the database to this user"
              .formatted(e.getMessage()),
          e);
    }
  }

  /** Ends what still works in our schemas, as after Ctrl-C, and removes them. */
  static void removeSchemas(DataSource dataSource, String name) {
    try (Connection connection = dataSource.getConnection()) {
      try (PreparedStatement statement =
          connection.prepareStatement(
              "select pg_terminate_backend(pid) from pg_stat_activity where application_name = ?")) {
        statement.setString(1, name);
        statement.execute();
      }
      for (String schema : schemas(connection, name)) {
        try (Statement statement = connection.createStatement()) {
          statement.execute("drop schema " + schema + " cascade");
        }
      }
    } catch (SQLException e) {
      System.err.printf(
          "outbox: the schemas %s* could not be removed: %s%n",
          name, Secrets.mask(String.valueOf(e.getMessage())));
    }
  }

  private static List<String> schemas(Connection connection, String name) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("select nspname from pg_namespace where nspname like ?")) {
      statement.setString(1, name.replace("_", "\\_") + "%");
      try (ResultSet rows = statement.executeQuery()) {
        List<String> names = new ArrayList<>();
        while (rows.next()) {
          names.add(rows.getString(1));
        }
        return names;
      }
    }
  }
}
