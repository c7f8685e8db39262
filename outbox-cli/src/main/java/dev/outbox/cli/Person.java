package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore.Who;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who decides about messages, for the audit. */
final class Person {
  @Option(
      names = "--by",
      paramLabel = "NAME",
      description = "Who decides, for the audit; default: the user of this system.")
  private @Nullable String name;

  @Option(names = "--why", paramLabel = "TEXT", description = "Why, for the audit.")
  private @Nullable String reason;

  /** Whether anything was said for an audit. */
  boolean isNamed() {
    return name != null || reason != null;
  }

  Who who() {
    try {
      return new Who(name != null ? name : System.getProperty("user.name", "unknown"), reason);
    } catch (IllegalArgumentException e) {
      throw new Failure("--by: " + e.getMessage(), e);
    }
  }
}
