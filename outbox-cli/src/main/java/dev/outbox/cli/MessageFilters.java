package dev.outbox.cli;

import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which messages, in the outbox or in its archive. */
class MessageFilters {
  @Option(names = "--type", description = "Only of this aggregate type.")
  @Nullable String type;

  @Option(names = "--key", description = "Only of this key, as order/42.")
  @Nullable String key;

  @Option(names = "--event-type", paramLabel = "TYPE", description = "Only these events.")
  @Nullable String eventType;

  @Option(names = "--id", paramLabel = "UUID", description = "Only the message with this id.")
  @Nullable UUID id;
}
