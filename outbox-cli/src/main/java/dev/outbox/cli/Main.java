package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxException;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore.Position;
import dev.outbox.spi.store.StoreProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExecutionException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The program. Exit codes: 0 fine; 1 a check failed; 2 bad usage, or something could not be reached
 * or done.
 */
@Command(
    name = "outbox",
    versionProvider = Main.Version.class,
    description = "The transactional outbox: tools for running it.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Where a command needs an outbox, the variables OUTBOX_URL, OUTBOX_USER and OUTBOX_PASSWORD"
          + " stand for --url, --user and --password.",
      "Exit codes: 0 fine; 1 a check failed, a limit of status is passed, or doctor has found a"
          + " problem; 2 bad usage, or something could not be reached."
    },
    subcommands = {
      MigrateCommand.class,
      GrantsCommand.class,
      RelayCommand.class,
      StatusCommand.class,
      WatchCommand.class,
      DoctorCommand.class,
      CheckProducerCommand.class,
      UiCommand.class,
      MessagesCommand.class,
      KeysCommand.class,
      PausingCommand.Pausing.class,
      PausingCommand.Resuming.class,
      DrainCommand.class,
      DeadLettersCommand.class,
      ArchiveCommand.class
    })
public final class Main extends CliCommand implements Runnable {
  public static final int CHECK_FAILED = 1;
  public static final int NOT_DONE = 2;

  /** What the program of developers has beside these commands. */
  private static final Set<String> OF_A_CHECKOUT = Set.of("demo", "tck", "bench", "torture");

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Show the stack trace of an error.")
  private boolean verbose;

  private Main() {}

  public static void main(String[] args) {
    System.exit(run(commandLine(), args));
  }

  /** Runs a command; that what it has printed could not be written is a failure, too. */
  public static int run(CommandLine program, String... args) {
    int code = program.execute(args);
    if (code == 0 && System.out.checkError()) {
      System.err.println("outbox: standard output is closed or full, and does not have all");
      return NOT_DONE;
    }
    return code;
  }

  /**
   * The program, with more commands than those of operators. It makes the JVM speak no language:
   * others have other letters, digits and years, for options, in the log and in what drivers say.
   */
  public static CommandLine commandLine(Class<?>... more) {
    Locale.setDefault(Locale.ROOT);
    CommandLine all = new CommandLine(new Main());
    for (Class<?> command : more) {
      all.addSubcommand(command);
    }
    return all // what is set now is set for all of them
        .setUsageHelpAutoWidth(true)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(StoreProvider.class, Stores::named)
        .registerConverter(
            Duration.class,
            reading(text -> Durations.parse(text).orElseThrow(), "no time, " + Durations.NEEDED))
        .registerConverter(
            Instant.class,
            reading(Instant::parse, "no time, one is needed as 2026-11-22T10:00:00Z"))
        .registerConverter(UUID.class, reading(UUID::fromString, "no id, a UUID is needed"))
        .registerConverter(Position.class, Main::position)
        .setExecutionStrategy(Main::execute)
        .setParameterExceptionHandler(Main::usage)
        .setExecutionExceptionHandler(Main::failed);
  }

  /** An error, as of a class that is missing, ends like an exception. */
  private static int execute(ParseResult parsed) {
    try {
      return new RunLast().execute(parsed);
    } catch (Error e) {
      throw new ExecutionException(parsed.commandSpec().commandLine(), e.toString(), e);
    }
  }

  /** Without the words of an exception, which are for programmers. */
  private static <T> ITypeConverter<T> reading(Function<String, T> parse, String otherwise) {
    return text -> {
      try {
        return parse.apply(text);
      } catch (IllegalArgumentException | DateTimeException | NoSuchElementException e) {
        throw new TypeConversionException("'%s' is %s".formatted(text, otherwise));
      }
    };
  }

  private static Position position(String text) {
    try {
      return Position.parse(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public void run() {
    throw wrong("no command is given");
  }

  /** What Maven wrote at build time. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {resource("version.txt").strip()};
    }
  }

  /** The text of a file beside this class. */
  static String resource(String name) {
    try (InputStream in = Main.class.getResourceAsStream(name)) {
      return new String(
          requireNonNull(in, name + " is missing in the class path").readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int usage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    String text = String.valueOf(e.getMessage()).replaceFirst("^Error: ", "");
    if (e instanceof UnmatchedArgumentException unmatched) {
      if (unmatched.isUnknownOption() && command.getCommand() instanceof Verbs verbs) {
        text = verbs.beforeOptions();
      }
      // It may be the password of an option whose name is mistyped.
      List<String> given = unmatched.getUnmatched();
      for (int i = 0; i < given.size(); i++) {
        String one = given.get(i);
        if (one.matches("(?s)-[^=]*=.*")) {
          Secrets.hide(one.substring(one.indexOf('=') + 1));
        } else if (i > 0 && given.get(i - 1).matches("-[^=]*")) {
          Secrets.hide(one);
        }
      }
    }
    if (args.length > 0 && OF_A_CHECKOUT.contains(args[0]) && command.getParent() == null) {
      err.println("outbox: %1$s is a command of a checkout: ./outbox %1$s".formatted(args[0]));
      return NOT_DONE;
    }
    err.println("outbox: " + Texts.printable(Secrets.mask(text)));
    if (!UnmatchedArgumentException.printSuggestions(e, err)) {
      err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    }
    return NOT_DONE;
  }

  private static int failed(Exception e, CommandLine command, @Nullable ParseResult parsed) {
    if (Cleanup.interrupted()) {
      return NOT_DONE;
    }
    PrintWriter err = command.getErr();
    err.println("outbox: " + sentence(e));
    if (command.getCommandSpec().root().userObject() instanceof Main main && main.verbose) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      err.print(Secrets.mask(trace.toString()));
      err.flush();
    } else if (!isExpected(e)) {
      err.println("This was not expected; --verbose shows where it came from.");
    }
    return NOT_DONE;
  }

  private static boolean isExpected(Exception e) {
    return e instanceof Failure || e instanceof OutboxException;
  }

  private static String sentence(Exception e) {
    boolean isSentence = isExpected(e) || e instanceof ExecutionException;
    String text = isSentence ? String.valueOf(e.getMessage()) : e.toString();
    return Texts.printable(Secrets.mask(text.strip().replaceAll("\\s*\\R\\s*", " ")));
  }
}
