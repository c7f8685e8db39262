package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "migrate",
    description = "Make or update the tables, or print the statements for doing it by hand.")
final class MigrateCommand extends SchemaCommand {
  /** Some supervisors kill 30 s after they have sent a signal. */
  private static final int PATIENCE_SECONDS = 25;

  @Option(names = "--print", description = "Print the statements; needs no database.")
  private boolean print;

  @Override
  public Integer call() {
    tables().refuseOptionsOfTheOther(this, List.of(), List.of());
    Logs.off();
    if (print) {
      return print(store -> Stores.as(SchemaStore.class, store).ddl());
    }
    DatabaseOptions database = database();
    if (database == null) {
      throw wrong("Missing required option: '--url=URL' (or --print)");
    }
    try (Opened connected = database.connect(tables())) {
      SchemaStore store = Stores.as(SchemaStore.class, tables().store(connected));
      Cleanup.finishing(PATIENCE_SECONDS, store::migrate); // or its lock would stay
      store.verify();
      out()
          .printf(
              "The %s is up to date: %s.%n",
              tables().areOfInbox() ? "inbox" : "outbox", Texts.printable(store.place()));
    }
    return 0;
  }
}
