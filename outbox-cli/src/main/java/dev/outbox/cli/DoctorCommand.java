package dev.outbox.cli;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.relay.Diagnosis;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.spi.store.StoredMessage;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "doctor",
    description = {
      "Look at all that can be wrong, and say for each that it is fine, or what is wrong and, below"
          + " that, what to type. It changes nothing.",
      "With a relay's configuration it also looks at the rights of the relay's user, and at the"
          + " broker. On PostgreSQL other users' sessions are seen by members of pg_read_all_stats"
          + " only.",
      "Exit codes: 0 no problem, with or without warnings; 1 a problem; 2 bad usage, or the database"
          + " could not be asked."
    },
    footer = {
      "",
      "Examples:",
      "  outbox doctor --config relay.properties",
      "  outbox doctor --url URL --user outbox_relay --json"
    })
final class DoctorCommand extends CliCommand implements Callable<Integer> {
  /** One of the two. */
  static final class Where {
    @ArgGroup(exclusive = false)
    private @Nullable DatabaseOptions database;

    @Option(names = "--config", paramLabel = "FILE", description = "A relay's properties.")
    private @Nullable Path config;
  }

  /** Of so many messages, the aggregate types say which of the broker's places to look at. */
  private static final int FIRST = 100;

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @ArgGroup private @Nullable Where where;

  @Mixin private final DatabaseOptions.Tables tables = new DatabaseOptions.Tables();

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    Logs.off();
    Where named = where;
    List<Finding> findings =
        named != null && named.config != null
            ? ofRelay(named.config)
            : ofDatabase(named != null ? named.database : DatabaseOptions.ofVariables());
    return Findings.report(findings, json, out());
  }

  private List<Finding> ofDatabase(@Nullable DatabaseOptions database) {
    if (database == null) {
      throw wrong("Missing required option: '--url=URL' (or --config=FILE)");
    }
    try (Opened connected = database.connect(tables)) {
      return ofStore(connected.store());
    }
  }

  private static List<Finding> ofStore(OutboxStore<?> store) {
    List<Finding> findings = new ArrayList<>(List.of(Diagnosis.schema(store)));
    if (findings.get(0).isFine() && store instanceof StatisticsStore figures) {
      try {
        findings.addAll(
            Diagnosis.of(figures, StatisticsStore.DEFAULT_CAP, Instant.now(), List.of())
                .findings());
      } catch (PermanentOutboxException e) {
        findings.add(Finding.problem("figures", String.valueOf(e.getMessage()), null));
      }
    }
    return findings;
  }

  private List<Finding> ofRelay(Path file) throws InterruptedException {
    for (String option : List.of("--schema", "--prefix", DatabaseOptions.Tables.ARCHIVE)) {
      if (isGiven(option)) {
        throw wrong(option + " stands in the file of --config: leave it out");
      }
    }
    List<Finding> findings = new ArrayList<>();
    Map<String, RelayConfig> configs = RelayConfig.all(RelayCommand.read(file), System::getenv);
    configs.forEach(RelayConfig::check);
    for (Map.Entry<String, RelayConfig> one : configs.entrySet()) {
      List<Finding> found;
      try {
        found = ofRelay(one.getValue());
      } catch (Failure | OutboxException e) {
        if (configs.size() == 1) {
          throw e;
        }
        found = List.of(Finding.problem("relay", String.valueOf(e.getMessage()), null));
      }
      findings.addAll(Findings.of(one.getKey(), found));
    }
    return findings;
  }

  private static List<Finding> ofRelay(RelayConfig config) throws InterruptedException {
    List<Finding> findings;
    List<StoredMessage> waiting = List.of();
    try (Opened connected = Stores.connect(config.address())) {
      findings = ofStore(connected.store());
      if (findings.get(0).isFine()) {
        findings.add(1, rights(connected.store()));
        String gap = DatabaseRelay.gap(config, connected.store());
        if (gap != null) {
          findings.add(Finding.warning("archive", gap, null));
        }
        waiting = waiting(connected.store());
      }
    }
    try (MessagePublisher publisher = config.publisher()) {
      String address = publisher.address();
      if (address != null) {
        Finding answers = broker(publisher, address);
        findings.add(answers);
        if (answers.isFine()) {
          findings.addAll(publisher.findings(waiting, PATIENCE));
        }
      }
    }
    return findings;
  }

  private static Finding rights(OutboxStore<?> store) {
    return (store instanceof SchemaStore schema
            ? schema.missingGrants()
            : Optional.<List<String>>empty())
        .map(
            missing ->
                missing.isEmpty()
                    ? Finding.fine("rights", "fine")
                    : Finding.problem(
                        "rights",
                        "the relay's user lacks rights, without which it publishes nothing",
                        String.join("; ", missing)))
        .orElseGet(
            () -> Finding.fine("rights", "not looked at here: a relay's log has what it lacks"));
  }

  /** Of each aggregate type that is among the first messages, one. */
  private static List<StoredMessage> waiting(OutboxStore<?> store) {
    if (!(store instanceof InspectionStore inspection)) {
      return List.of();
    }
    try {
      Map<String, Long> sequences = new TreeMap<>();
      for (Listed one : inspection.messages(Query.first(FIRST)).found()) {
        String type = one.aggregateType();
        if (type != null) {
          sequences.putIfAbsent(type, one.sequence());
        }
      }
      return sequences.values().stream()
          .flatMap(sequence -> inspection.message(sequence).stream())
          .map(Inspected::message)
          .filter(message -> message.problem() == null)
          .toList();
    } catch (PermanentOutboxException e) {
      return List.of(); // the findings of the store name the right that is missing
    }
  }

  private static Finding broker(MessagePublisher broker, String address)
      throws InterruptedException {
    return broker
        .unreachable(PATIENCE)
        .map(
            error ->
                Finding.problem(
                    "broker",
                    "%s cannot be reached: %s".formatted(address, error),
                    "start it, or mend its address in the relay's configuration; messages wait meanwhile"))
        .orElseGet(() -> Finding.fine("broker", address + " answers"));
  }
}
