package dev.outbox.cli;

import dev.outbox.spi.store.StoreProvider;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** An outbox, or an inbox, of which statements can be printed: the user's, or one of some kind. */
final class OutboxOptions {
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

  @Nullable DatabaseOptions database() {
    return database;
  }

  DatabaseOptions.TablesOfEither tables() {
    return tables;
  }

  /** The text that the store gives without connecting. */
  String print(Function<Object, String> text) {
    Address address =
        database != null
            ? database.address(tables)
            : new Address(
                Stores.orDefault(store).exampleUrl(),
                "",
                "",
                tables.schema(),
                tables.prefix(),
                tables.history());
    try (StoreProvider.Opened none = Stores.open(address, null, 1)) {
      return text.apply(tables.store(none));
    } catch (IllegalArgumentException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }
}
