package dev.outbox.cli;

import java.io.PrintWriter;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
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
      "The user must be allowed to create schemas (on MySQL, MariaDB and MongoDB: databases); what is"
          + " made is removed again."
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
    String name = "outbox_tck_" + UUID.randomUUID().toString().substring(0, 8);
    try (Database connected = database.connect()) {
      connected.createSchema(name); // so that a user who may not is told at once
      connected.removeSchemas(name);
      Address address = connected.named(name);
      String server = "outbox.test." + database.kind();
      System.setProperty(server + ".url", address.url());
      System.setProperty(server + ".user", address.user());
      System.setProperty(server + ".password", address.password());
      System.setProperty("outbox.test.schema", name);
      PrintWriter out = spec.commandLine().getOut();
      try (Cleanup ignored = Cleanup.atEnd(() -> removeSchemas(connected, name))) {
        return run(database.kind().tck(), out);
      }
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

  /** Ends what still works in our schemas, as after Ctrl-C, and removes them. */
  static void removeSchemas(Database database, String name) {
    try {
      database.removeSchemas(name);
    } catch (Failure e) {
      System.err.println("outbox: " + Secrets.mask(String.valueOf(e.getMessage())));
    }
  }
}
