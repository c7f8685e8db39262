package dev.outbox.cli;

import dev.outbox.Texts;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "migrate",
    description = "Make or update the tables, or print the statements for doing it by hand.")
final class MigrateCommand extends CliCommand implements Callable<Integer> {
  @Mixin private final OutboxOptions outbox = new OutboxOptions();

  @Option(names = "--print", description = "Print the statements; needs no database.")
  private boolean print;

  @Override
  public Integer call() {
    outbox.tables().refuseOptionsOfTheOther(this, List.of(), List.of());
    Logs.off();
    PrintWriter out = out();
    if (print) {
      out.print(outbox.print(store -> Stores.as(SchemaStore.class, store).ddl()));
      out.flush();
      return 0;
    }
    DatabaseOptions database = outbox.database();
    if (database == null) {
      throw wrong("Missing required option: '--url=URL' (or --print)");
    }
    try (Opened connected = database.connect(outbox.tables())) {
      SchemaStore store = Stores.as(SchemaStore.class, outbox.tables().store(connected));
      store.migrate();
      store.verify();
      out.printf(
          "The %s is up to date: %s.%n",
          outbox.tables().areOfInbox() ? "inbox" : "outbox", Texts.printable(store.place()));
    }
    return 0;
  }
}
