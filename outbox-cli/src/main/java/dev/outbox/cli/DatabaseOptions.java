package dev.outbox.cli;

import dev.outbox.Archive;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.spi.store.StoreProvider.PasswordMissingException;
import java.io.Console;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Where the outbox is. */
public final class DatabaseOptions {
  public static final String PASSWORD_VARIABLE = "OUTBOX_PASSWORD";

  private static final String URL_VARIABLE = "OUTBOX_URL";
  private static final String USER_VARIABLE = "OUTBOX_USER";

  static final String PASSWORD = "--password";

  @Option(
      names = "--url",
      required = true,
      defaultValue = "${env:" + URL_VARIABLE + "}",
      paramLabel = "URL",
      completionCandidates = Stores.ExampleUrls.class,
      description = "The database, as one of ${COMPLETION-CANDIDATES}.")
  @SuppressWarnings("NullAway.Init") // required
  private String url;

  @Option(
      names = "--user",
      defaultValue = "${env:" + USER_VARIABLE + "}",
      description = "The database user.")
  private @Nullable String user;

  @Option(
      names = PASSWORD,
      description =
          "The password. Others may see what stands in a command line: rather set the variable "
              + PASSWORD_VARIABLE
              + ", or let it be asked for.")
  private @Nullable String password;

  /**
   * What the variables say, for a command whose options need not name a database; null when they
   * name none.
   */
  static @Nullable DatabaseOptions ofVariables() {
    return System.getenv(URL_VARIABLE) == null
        ? null
        : CommandLine.populateCommand(new DatabaseOptions());
  }

  private String user() {
    return user == null ? "" : user;
  }

  private String password() {
    return password(url, password, System.getenv(PASSWORD_VARIABLE));
  }

  private String ask(Console console) {
    char[] answer = console.readPassword("Password of %s: ", user());
    return answer == null ? "" : new String(answer);
  }

  /** Refuses two passwords: if they differed, one would win, and nobody could see which. */
  static String password(String url, @Nullable String option, @Nullable String variable) {
    String given = option != null ? option : Secrets.given(variable == null ? "" : variable);
    if (given.isEmpty()) {
      return "";
    }
    Secrets.hide(given);
    if (Secrets.isIn(url)) {
      throw new Failure(
          "the URL %s has a password, and %s gives another: give one of the two"
              .formatted(url, option != null ? PASSWORD : "the variable " + PASSWORD_VARIABLE));
    }
    return given;
  }

  /** Where the URL leads. */
  public Address address() {
    return new Address(url, user(), password());
  }

  /** {@link #address}, with the names of the tables. */
  Address address(Tables tables) {
    return new Address(url, user(), password(), tables.schema(), tables.prefix(), tables.history());
  }

  /** Opens the outbox with these tables, and makes sure that its database answers. */
  Opened connect(Tables tables) {
    return connect(tables, 1);
  }

  Opened connect(Tables tables, int connections) {
    return withPassword(() -> Stores.connect(address(tables), connections));
  }

  /** Connects; when the server wants a password, asks for one and connects again. */
  public <C> C withPassword(Supplier<C> connect) {
    try {
      return connect.get();
    } catch (PasswordMissingException e) {
      Console console = System.console();
      if (console == null) {
        throw new Failure(
            "%s; give the password in the variable %s or with %s"
                .formatted(e.getMessage(), PASSWORD_VARIABLE, PASSWORD),
            e);
      }
      password = ask(console);
      return connect.get();
    }
  }

  /** The names of the tables. */
  static class Tables {
    static final String ARCHIVE = "--archive";

    @Option(
        names = "--schema",
        description =
            "The schema of the tables, on MySQL and MariaDB the database; default: the"
                + " connection's current one. Not on MongoDB, whose URL names the database. On Redis"
                + " the name in braces that all keys begin with, which has no default.")
    private @Nullable String schema;

    @Option(
        names = "--prefix",
        description =
            "Before each table's or collection's name; default: "
                + StoreProvider.Settings.DEFAULT_PREFIX
                + ", of an inbox "
                + InboxStore.DEFAULT_PREFIX
                + ". Not on Redis.")
    private @Nullable String prefix;

    @Option(
        names = ARCHIVE,
        paramLabel = "WHAT",
        description =
            "What the outbox keeps of messages that leave it, as its relays are told: none, metadata"
                + " or full; default: none.")
    private @Nullable Archive archive;

    @Nullable String schema() {
      return schema;
    }

    /** What the user chose; null if the option was not given. */
    final @Nullable Archive archive() {
      return archive;
    }

    final boolean hasArchive() {
      return archive != null && archive != Archive.NONE;
    }

    StoreProvider.History history() {
      return StoreProvider.History.of(archive == null ? Archive.NONE : archive);
    }

    /** The prefix of the outbox's tables. */
    String prefix() {
      return prefix(StoreProvider.Settings.DEFAULT_PREFIX);
    }

    final String prefix(String otherwise) {
      return prefix == null ? otherwise : prefix;
    }
  }

  /** The names of the tables of an outbox, or of an inbox. */
  static final class TablesOfEither extends Tables {
    @Option(names = "--inbox", description = "The inbox in that database, and not the outbox.")
    private boolean inbox;

    boolean areOfInbox() {
      return inbox;
    }

    /** Refuses options of the other kind: a limit that nobody looks at would be taken for kept. */
    void refuseOptionsOfTheOther(CliCommand command, List<String> ofOutbox, List<String> ofInbox) {
      List<String> ofAnyOutbox = Stream.concat(ofOutbox.stream(), Stream.of(ARCHIVE)).toList();
      for (String option : inbox ? ofAnyOutbox : ofInbox) {
        if (command.isGiven(option)) {
          throw command.wrong(
              inbox
                  ? option + " is for an outbox: leave it out, or --inbox"
                  : option + " is for an inbox: add --inbox");
        }
      }
    }

    /**
     * The outbox's prefix; with {@code --inbox} the default, because the option names the inbox's.
     */
    @Override
    String prefix() {
      return inbox ? StoreProvider.Settings.DEFAULT_PREFIX : super.prefix();
    }

    /** What was opened: the outbox, or its database's inbox. */
    Object store(Opened opened) {
      return inbox ? inbox(opened) : opened.store();
    }

    InboxStore<?> inbox(Opened opened) {
      return Stores.inbox(opened, prefix(InboxStore.DEFAULT_PREFIX));
    }
  }
}
