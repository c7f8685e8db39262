package dev.outbox.cli;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "relay",
    description = {
      "Run a relay beside services in any language: they append by plain SQL.",
      "Logs to standard error; stops in good order within 20 seconds of SIGTERM or Ctrl-C."
    })
final class RelayCommand extends CliCommand implements Callable<Integer> {
  /** What some editors put before a text in UTF-8. */
  private static final String MARK = "\ufeff";

  /** One of the two. */
  static final class What {
    @Option(names = "--config", paramLabel = "FILE", description = "The relay's properties.")
    private @Nullable Path config;

    @Option(names = "--print-config", description = "Print a properties file that explains itself.")
    private boolean printConfig;
  }

  @ArgGroup(multiplicity = "1")
  @SuppressWarnings("NullAway.Init") // set by picocli
  private What what;

  @Override
  public Integer call() throws InterruptedException {
    if (what.config == null) {
      out().print(example());
      out().flush();
      return 0;
    }
    try (RelayProcess ignored = RelayProcess.start(read(what.config))) {
      new CountDownLatch(1).await(); // a signal ends it
    }
    return 0;
  }

  /** Refuses a property that stands in a file twice: silently, the last would win. */
  private static final class OncePerFile extends Properties {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized @Nullable Object put(Object name, Object value) {
      if (containsKey(name)) {
        throw new Failure("the property %s is given twice: take one away".formatted(name));
      }
      return super.put(name, value);
    }
  }

  static Properties read(Path file) {
    Properties properties = new OncePerFile();
    try {
      String text = Files.readString(file);
      properties.load(new StringReader(text.startsWith(MARK) ? text.substring(1) : text));
    } catch (NoSuchFileException e) {
      throw new Failure(
          "there is no file %s: make one with --print-config".formatted(file.toAbsolutePath()), e);
    } catch (AccessDeniedException e) {
      throw new Failure("%s cannot be read: this user may not".formatted(file), e);
    } catch (CharacterCodingException e) {
      throw new Failure("%s cannot be read: it is not in UTF-8".formatted(file), e);
    } catch (IOException | IllegalArgumentException e) {
      throw new Failure("%s cannot be read: %s".formatted(file, e.getMessage()), e);
    }
    return properties;
  }

  static String example() {
    return Main.resource("relay.properties");
  }
}
