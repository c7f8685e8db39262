package dev.outbox.cli;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "check-producer",
    mixinStandardHelpOptions = true,
    description = {
      "Look whether the rows of a producer keep the rules of docs/plain-sql.md: those that can be"
          + " seen in rows. It changes nothing.",
      "It sees what waits or is a dead letter: let the producer insert while no relay runs.",
      "Exit codes: 0 no rule is broken; 1 one is, or there is no message; 2 bad usage, or the"
          + " database could not be asked."
    },
    footer = {
      "",
      "Examples:",
      "  outbox check-producer --url URL",
      "  outbox check-producer --url URL --type order --json"
    })
final class CheckProducerCommand extends StoreCommand<InspectionStore> {
  @Mixin private final Filters filters = new Filters();

  @Option(
      names = "--limit",
      defaultValue = "1000",
      description = "How many messages at most, the oldest first; default: ${DEFAULT-VALUE}.")
  private int limit;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  CheckProducerCommand() {
    super(InspectionStore.class);
  }

  @Override
  void check() {
    Listing.checkLimit(limit);
  }

  @Override
  int run(InspectionStore store, PrintWriter out) {
    ProducerRules rules = new ProducerRules(Instant.now());
    AtomicInteger seen = new AtomicInteger();
    Listing.read((after, most) -> store.messages(filters.query(null, after, most)), null, limit)
        .found()
        .forEach(
            one ->
                store
                    .message(one.sequence())
                    .ifPresent(
                        message -> {
                          rules.look(message);
                          seen.incrementAndGet();
                        }));
    List<Finding> findings = new ArrayList<>();
    findings.add(
        seen.get() == 0
            ? Finding.problem(
                "messages",
                "there is none, so nothing is known of the producer",
                "insert some while no relay runs")
            : Finding.fine("messages", seen + " looked at"));
    if (seen.get() > 0) {
      findings.addAll(rules.findings());
    }
    return Findings.report(findings, json, out);
  }
}
