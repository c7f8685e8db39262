package dev.outbox.dev.tck;

import dev.outbox.OutboxException;
import dev.outbox.cli.Address;
import dev.outbox.cli.Cleanup;
import dev.outbox.cli.CliCommand;
import dev.outbox.cli.DatabaseOptions;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Logs;
import dev.outbox.cli.Main;
import dev.outbox.cli.Secrets;
import dev.outbox.cli.Terminal;
import dev.outbox.dev.common.Progress;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.store.mongo.MongoInboxTck;
import dev.outbox.store.mongo.MongoStoreTck;
import dev.outbox.store.mysql.MariadbInboxTck;
import dev.outbox.store.mysql.MariadbStoreTck;
import dev.outbox.store.mysql.MysqlInboxTck;
import dev.outbox.store.mysql.MysqlStoreTck;
import dev.outbox.store.postgres.PostgresInboxTck;
import dev.outbox.store.postgres.PostgresStoreTck;
import dev.outbox.store.redis.RedisInboxTck;
import dev.outbox.store.redis.RedisStoreTck;
import dev.outbox.store.sqlserver.SqlServerInboxTck;
import dev.outbox.store.sqlserver.SqlServerStoreTck;
import dev.outbox.tck.inbox.InboxStoreTck;
import dev.outbox.tck.publisher.PublisherTck;
import dev.outbox.tck.store.OutboxStoreTck;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The TCK of the store and of its inbox in a user's own database. It makes schemas whose names
 * begin with one that nobody else uses, and names its connections alike: so whatever is left when
 * it is interrupted can be found and removed.
 */
@Command(
    name = "tck",
    description = {
      "Check in your own database that the store and its inbox keep their contract, rule by rule;"
          + " or a store, an inbox or a publisher of your own.",
      "The user must be allowed to create schemas (on MySQL, MariaDB and MongoDB: databases; on Redis: keys that begin with {outbox_tck_); what is"
          + " made is removed again."
    })
public final class TckCommand extends CliCommand implements Callable<Integer> {
  private static final String BEGIN = "outbox_tck_";
  private static final Pattern LEFTOVER = Pattern.compile(BEGIN + "[0-9a-f]{8}");

  /** What a suite of a user's own extends. */
  private static final List<Class<?>> SUITES =
      List.of(OutboxStoreTck.class, InboxStoreTck.class, PublisherTck.class);

  private static final int TRIES = 3;
  private static final Duration PAUSE = Duration.ofSeconds(1);

  @ArgGroup(exclusive = false)
  private @Nullable DatabaseOptions database;

  @Option(
      names = "--suite",
      paramLabel = "CLASS",
      description = {
        "Run the suite of a store, an inbox or a publisher of your own: its test class, whose jar is in the"
            + " folder ext. It makes and removes what it needs by itself; where the database is, it"
            + " finds in the system properties outbox.test.url, .user and .password."
      })
  private @Nullable String suite;

  @Option(
      names = "--clean",
      description =
          "Run no test: remove what earlier runs have left, while no other run is going on.")
  private boolean clean;

  @Option(
      names = "--all",
      description =
          "Run all tests, however long those take that fail. Else the rest is skipped when they have"
              + " taken a minute.")
  private boolean all;

  @Override
  public Integer call() {
    Logs.off();
    if (suite != null) {
      return runOwn(suite);
    }
    if (database == null) {
      throw wrong("neither --url nor --suite is given: say what to check");
    }
    return runOurs(database);
  }

  /** A suite that is not one of our stores'. */
  private int runOwn(String suite) {
    Class<?> tck;
    try {
      tck = Class.forName(suite);
    } catch (ClassNotFoundException | LinkageError e) {
      throw new Failure(
          "there is no class %s (%s): put the jar with your tests into the folder ext, and what it needs beside it"
              .formatted(suite, e),
          e);
    }
    if (SUITES.stream().noneMatch(suites -> suites.isAssignableFrom(tck))) {
      throw new Failure(
          "%s is no suite: name a class that extends OutboxStoreTck, InboxStoreTck or PublisherTck"
              .formatted(suite));
    }
    if (database != null) {
      name("outbox.test", database.address());
    }
    return run(List.of(tck), all, out(), () -> true);
  }

  /** Tells tests where the database is. */
  private static void name(String properties, Address address) {
    System.setProperty(properties + ".url", address.url());
    System.setProperty(properties + ".user", address.user());
    System.setProperty(properties + ".password", address.password());
  }

  private int runOurs(DatabaseOptions database) {
    String name = BEGIN + UUID.randomUUID().toString().substring(0, 8);
    try (Place<?> connected = database.withPassword(() -> StoreKind.connect(database.address()))) {
      List<String> left = leftovers(connected);
      if (clean) {
        left.forEach(connected::removeSchemas);
        out()
            .println(
                "Removed: " + (left.isEmpty() ? "nothing was left." : String.join(", ", left)));
        return 0;
      }
      out().println(connected.server());
      if (!left.isEmpty()) {
        out()
            .printf(
                "Earlier runs have left %s: remove it with --clean, while no other run is going on.%n",
                String.join(", ", left));
      }
      out().flush();
      connected.createSchema(name); // so that a user who may not is told at once
      connected.removeSchemas(name);
      Address address = connected.named(name);
      StoreKind kind = StoreKind.of(address.url());
      name("outbox.test." + kind, address);
      System.setProperty("outbox.test.schema", name);
      try (Cleanup ignored = Cleanup.atEnd(() -> removeSchemas(connected, name))) {
        return run(suites(kind), all, out(), () -> answers(connected));
      }
    }
  }

  /** Of the store and of its inbox. */
  private static List<Class<?>> suites(StoreKind kind) {
    return switch (kind) {
      case POSTGRES -> List.of(PostgresStoreTck.class, PostgresInboxTck.class);
      case MYSQL -> List.of(MysqlStoreTck.class, MysqlInboxTck.class);
      case MARIADB -> List.of(MariadbStoreTck.class, MariadbInboxTck.class);
      case SQLSERVER -> List.of(SqlServerStoreTck.class, SqlServerInboxTck.class);
      case MONGO -> List.of(MongoStoreTck.class, MongoInboxTck.class);
      case REDIS -> List.of(RedisStoreTck.class, RedisInboxTck.class);
    };
  }

  /** How the schemas of runs begin, each run's with a name of its own. */
  private static List<String> leftovers(Place<?> database) {
    return database.schemas(BEGIN).stream()
        .map(LEFTOVER::matcher)
        .filter(Matcher::lookingAt)
        .map(Matcher::group)
        .distinct()
        .toList();
  }

  /** Not at the first try alone: it may have no connection left for the moment. */
  static boolean answers(Place<?> database) {
    for (int i = 1; ; i++) {
      try {
        database.check();
        return true;
      } catch (Failure e) {
        if (i == TRIES) {
          return false;
        }
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /**
   * Runs TCK classes and prints one report.
   *
   * @param all whether tests run after those that failed have taken long
   * @param serverAnswers asked after each failure; when it does not, the rest is not run
   */
  static int run(List<Class<?>> tcks, boolean all, PrintWriter out, BooleanSupplier serverAnswers) {
    Progress progress = new Progress(out, Terminal.isThere(), Duration.ofSeconds(15));
    TckReport report = new TckReport(progress, serverAnswers);
    WhileServerAnswers.gone = false;
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(tcks.stream().map(DiscoverySelectors::selectClass).toList())
            .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
            .configurationParameter("outbox.tck.all", String.valueOf(all))
            .configurationParameter("outbox.tck.summary", "false") // the report has the reasons
            .build();
    LauncherFactory.create().execute(request, report);
    progress.wipe();
    report.print(out);
    out.flush();
    return report.failed() ? Main.CHECK_FAILED : 0;
  }

  /** Ends what still works in our schemas, as after Ctrl-C, and removes them. */
  static void removeSchemas(Place<?> database, String name) {
    try {
      database.removeSchemas(name);
    } catch (OutboxException e) {
      System.err.println("outbox: " + Secrets.mask(String.valueOf(e.getMessage())));
    }
  }
}
