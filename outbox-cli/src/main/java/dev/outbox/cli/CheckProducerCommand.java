package dev.outbox.cli;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "check-producer",
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
final class CheckProducerCommand extends StoreCommand {
  @Mixin private final Filters filters = new Filters();

  @Option(
      names = "--limit",
      defaultValue = "1000",
      converter = Listing.AtLeastOne.class,
      description = "How many messages at most, the oldest first; default: ${DEFAULT-VALUE}.")
  private int limit;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  int run(Object outbox, PrintWriter out) {
    InspectionStore store = Stores.as(InspectionStore.class, outbox);
    ProducerRules rules = new ProducerRules(Instant.now());
    int seen = 0;
    for (Listed one :
        Listing.read((after, most) -> store.messages(filters.query(null, after, most)), null, limit)
            .found()) {
      Optional<Inspected> message = store.message(one.sequence());
      message.ifPresent(rules::look);
      seen += message.isPresent() ? 1 : 0;
    }
    List<Finding> findings = new ArrayList<>();
    if (seen == 0) {
      findings.add(
          Finding.problem(
              "messages",
              "there is none, so nothing is known of the producer",
              "insert some while no relay runs"));
    } else {
      findings.add(Finding.fine("messages", seen + " looked at"));
      findings.addAll(rules.findings());
    }
    return Findings.report(findings, json, out);
  }
}
