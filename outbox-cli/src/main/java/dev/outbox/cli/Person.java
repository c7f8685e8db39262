package dev.outbox.cli;

import dev.outbox.spi.store.ArchiveStore.Who;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Who decides, for an audit, or for those who see what is paused. */
final class Person {
  @Option(
      names = "--by",
      paramLabel = "NAME",
      description = "Who decides; default: the user of this system.")
  private @Nullable String name;

  @Option(
      names = {"--why", "--reason"},
      paramLabel = "TEXT",
      description = "Why.")
  private @Nullable String reason;

  /** Whether anything was said for an audit. */
  boolean isNamed() {
    return name != null || reason != null;
  }

  Who who() {
    String who = name != null ? name : System.getProperty("user.name", "unknown");
    return Failure.whereRefused("--by: ", () -> new Who(who, reason));
  }
}
