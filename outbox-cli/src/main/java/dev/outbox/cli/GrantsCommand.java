package dev.outbox.cli;

import dev.outbox.spi.store.SchemaStore;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "grants",
    description = {
      "Print the statements that give producers and relays the rights that they need, and no more;"
          + " with --inbox: consumers and who purges.",
      "Connects to nothing; the URL says which database it is for."
    })
final class GrantsCommand extends SchemaCommand {
  @Option(names = "--producer", paramLabel = "ROLE", description = "The role or user that appends.")
  private @Nullable String producer;

  @Option(
      names = "--relay",
      paramLabel = "ROLE",
      description = "The role or user of relays, and of status and dead-letters.")
  private @Nullable String relay;

  @Option(
      names = "--consumer",
      paramLabel = "ROLE",
      description = "With --inbox: the role or user that handles messages.")
  private @Nullable String consumer;

  @Option(
      names = "--housekeeper",
      paramLabel = "ROLE",
      description =
          "With --inbox: the role or user that purges what is no longer needed, and of status; may"
              + " be the consumer's.")
  private @Nullable String housekeeper;

  @Override
  public Integer call() {
    tables()
        .refuseOptionsOfTheOther(
            this, List.of("--producer", "--relay"), List.of("--consumer", "--housekeeper"));
    Logs.off();
    boolean inbox = tables().areOfInbox();
    String application = inbox ? role("--consumer", consumer) : role("--producer", producer);
    String operator = inbox ? role("--housekeeper", housekeeper) : role("--relay", relay);
    return print(store -> grants(store, application, operator));
  }

  private static String grants(Object store, String application, String operator) {
    String grants = Stores.as(SchemaStore.class, store).grants(application, operator);
    if (grants == null) {
      throw new Failure(store.getClass().getSimpleName() + " gives no rights");
    }
    return grants;
  }

  private String role(String option, @Nullable String role) {
    if (role == null) {
      throw wrong("Missing required option: '%s=ROLE'".formatted(option));
    }
    return role;
  }
}
