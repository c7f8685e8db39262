package dev.outbox.cli;

import dev.outbox.benchmarks.DatabaseKind;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
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
      "The user must be allowed to create schemas (on MySQL and MariaDB: databases); what is made is"
          + " removed again."
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
    StoreKind store = database.kind();
    DatabaseKind kind = store.database();
    DataSource dataSource = database.connect();
    String name = "outbox_tck_" + UUID.randomUUID().toString().substring(0, 8);
    checkMayCreateSchemas(kind, dataSource, name);
    String server = "outbox.test." + store;
    System.setProperty(server + ".url", kind.named(database.url(), name));
    System.setProperty(server + ".user", database.user());
    System.setProperty(server + ".password", database.password());
    System.setProperty("outbox.test.schema", name);
    PrintWriter out = spec.commandLine().getOut();
    try (Cleanup ignored = Cleanup.atEnd(() -> removeSchemas(kind, dataSource, name))) {
      return run(store.tck(), out);
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

  private static void checkMayCreateSchemas(DatabaseKind kind, DataSource dataSource, String name) {
    try (Connection connection = dataSource.getConnection()) {
      kind.createSchema(connection, name);
      kind.removeSchemas(connection, name);
    } catch (SQLException e) {
      throw new Failure(
          "no schema can be made in this database: %s; let this user create schemas (on MySQL and MariaDB: databases)"
              .formatted(e.getMessage()),
          e);
    }
  }

  /** Ends what still works in our schemas, as after Ctrl-C, and removes them. */
  static void removeSchemas(DatabaseKind kind, DataSource dataSource, String name) {
    try (Connection connection = dataSource.getConnection()) {
      kind.removeSchemas(connection, name);
    } catch (SQLException e) {
      System.err.printf(
          "outbox: the schemas %s* could not be removed: %s%n",
          name, Secrets.mask(String.valueOf(e.getMessage())));
    }
  }
}
