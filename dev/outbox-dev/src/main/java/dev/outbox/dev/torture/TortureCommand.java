package dev.outbox.dev.torture;

import static java.util.stream.Collectors.joining;

import dev.outbox.Archive;
import dev.outbox.cli.Cleanup;
import dev.outbox.cli.CliCommand;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Logs;
import dev.outbox.cli.Main;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.torture.Torture.Settings;
import dev.outbox.embedded.Directories;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The fault harness. */
@Command(
    name = "torture",
    description = {
      "Let everything go wrong, again and again, and check that nothing is lost, leaked, out of order"
          + " or stuck.",
      "Producers, relays and consumers are processes of their own, on a real database and a real"
          + " broker that are started for it. They are killed and stopped, servers too; connections are"
          + " cut, stalled and slowed; clocks are shifted; pools are exhausted. Every message is"
          + " accounted for in the end. Exit code 1: something was wrong."
    })
public final class TortureCommand extends CliCommand implements Callable<Integer> {
  private static final int MOST_RELAYS = 20;

  @Option(
      names = "--store",
      paramLabel = "STORE",
      description = "postgres, mysql, mariadb or redis; default: postgres.")
  private StoreKind store = StoreKind.POSTGRES;

  @Option(
      names = "--broker",
      paramLabel = "BROKER",
      description = "kafka or rabbitmq; default: kafka.")
  private Broker.Kind broker = Broker.Kind.KAFKA;

  @Option(
      names = "--relays",
      paramLabel = "N",
      description = "How many there are, each a process; default: ${DEFAULT-VALUE}.")
  private int relays = 3;

  @Option(
      names = "--time",
      paramLabel = "TIME",
      description = "How long faults happen, as 90s, 5m or 8h; default: 3m.")
  private Duration time = Duration.ofMinutes(3);

  @Option(
      names = "--seed",
      description =
          "Of the plan of faults and of all processes; default: another one each time, which is printed.")
  private @Nullable Long seed;

  @Option(
      names = "--faults-per-minute",
      paramLabel = "N",
      description = "On average; default: ${DEFAULT-VALUE}.")
  private double faultsPerMinute = 40;

  @Option(
      names = "--archive",
      paramLabel = "WHAT",
      description =
          "What the outbox keeps of messages that leave it: none, metadata or full; default: as the"
              + " seed says.")
  private @Nullable Archive archive;

  @Option(
      names = "--at-least",
      paramLabel = "N",
      description = "Exit with 1 when fewer faults have happened; default: ${DEFAULT-VALUE}.")
  private int atLeast = 1;

  private volatile boolean keep;

  @Override
  public Integer call() throws Exception {
    Logs.off();
    check();
    Path directory = Files.createTempDirectory("outbox-torture-");
    long ofRun = seed != null ? seed : ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
    Settings settings =
        new Settings(
            store, broker, relays, time, ofRun, faultsPerMinute, archive(ofRun), directory);
    say("seed " + settings.seed() + ", history in " + directory);
    try (Cleanup ignored = Cleanup.atEnd(() -> delete(directory))) {
      return run(settings);
    }
  }

  /** Each is tortured now and then where nobody says which. */
  private Archive archive(long ofRun) {
    if (archive != null) {
      return archive;
    }
    Archive[] all = Archive.values();
    return store == StoreKind.REDIS
        ? Archive.NONE
        : all[(int) Math.floorMod(ofRun, (long) all.length)];
  }

  private int run(Settings settings) throws Exception {
    Torture.Summary summary;
    try {
      keep = true;
      summary = Torture.run(settings, this::say);
    } catch (UnsupportedOperationException e) {
      keep = false;
      throw new Failure(
          "%s and %s cannot be tortured here: %s"
              .formatted(settings.database(), settings.broker(), e.getMessage()),
          e);
    }
    out().print(summary.text());
    out().flush();
    if (!summary.violations().isEmpty()) {
      say("the history is in " + settings.history());
      return Main.CHECK_FAILED;
    }
    if (summary.faultCount() < atLeast) {
      say("only %s faults have happened, not %s".formatted(summary.faultCount(), atLeast));
      return Main.CHECK_FAILED;
    }
    keep = false;
    return 0;
  }

  private void check() {
    if (!Servers.DATABASES.contains(store)) {
      throw wrong(
          "--store is %s, but it takes a database that can be started and killed here: one of %s"
              .formatted(
                  store,
                  Servers.DATABASES.stream().map(StoreKind::toString).collect(joining(", "))));
    }
    if (store == StoreKind.REDIS && archive != null && archive != Archive.NONE) {
      throw wrong(
          "--archive is %s, but %s keeps no archive: leave it out".formatted(archive, store));
    }
    if (relays < 1 || relays > MOST_RELAYS) {
      throw wrong("--relays is %s, allowed are 1 to %s".formatted(relays, MOST_RELAYS));
    }
    if (time.toMillis() < 1) {
      throw wrong("--time is 0, at least 1ms is needed");
    }
    if (!(faultsPerMinute > 0 && faultsPerMinute <= 1_000)) {
      throw wrong(
          "--faults-per-minute is %s, allowed is more than 0, up to 1000"
              .formatted(faultsPerMinute));
    }
  }

  private void say(String text) {
    err().println("torture: " + text);
    err().flush();
  }

  /** After Ctrl-C processes may still write there: what cannot be deleted stays. */
  private void delete(Path directory) {
    try {
      if (!keep || Cleanup.interrupted()) {
        Directories.delete(directory);
      }
    } catch (UncheckedIOException e) {
      say(String.valueOf(e.getMessage()));
    }
  }
}
