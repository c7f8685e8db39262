package dev.outbox.cli;

import dev.outbox.spi.store.StoreProvider;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** About the tables of an outbox, or of an inbox: the user's, or one of some kind. */
abstract class SchemaCommand extends CliCommand implements Callable<Integer> {
  @ArgGroup(exclusive = false)
  private @Nullable DatabaseOptions database;

  @Mixin private final DatabaseOptions.TablesOfEither tables = new DatabaseOptions.TablesOfEither();

  @Option(
      names = "--store",
      paramLabel = "STORE",
      completionCandidates = Stores.Names.class,
      description =
          "Whose statements to print without --url: ${COMPLETION-CANDIDATES}; default: postgres.")
  private @Nullable StoreProvider store;

  /** What the options or the variables name; null: no database, but perhaps a kind of store. */
  final @Nullable DatabaseOptions database() {
    return database != null || store != null ? database : DatabaseOptions.ofVariables();
  }

  final DatabaseOptions.TablesOfEither tables() {
    return tables;
  }

  /** Prints the text that the store gives without connecting. */
  final int print(Function<Object, String> text) {
    DatabaseOptions known = database();
    Address address =
        known != null
            ? known.address(tables)
            : new Address(
                Stores.orDefault(store).exampleUrl(),
                "",
                "",
                tables.schema(),
                tables.prefix(),
                tables.history());
    try (StoreProvider.Opened none = Stores.open(address, null, 1)) {
      out().print(Failure.whereRefused("", () -> text.apply(tables.store(none))));
      out().flush();
      return 0;
    }
  }
}
