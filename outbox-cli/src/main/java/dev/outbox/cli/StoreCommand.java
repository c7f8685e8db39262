package dev.outbox.cli;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.ui.Payload;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/** A command that needs the store of an outbox. */
abstract class StoreCommand extends CliCommand implements Callable<Integer> {
  @Mixin
  @SuppressWarnings("NullAway.Init") // set by picocli
  private DatabaseOptions database;

  @Mixin private final DatabaseOptions.Tables tables = new DatabaseOptions.Tables();

  @Override
  public final Integer call() {
    Logs.off();
    check();
    try (Opened connected = database.connect(tables, connections())) {
      return run(connected.store(), out());
    }
  }

  final DatabaseOptions.Tables tables() {
    return tables;
  }

  /**
   * Refuses what would leave a gap in an archive, or in its audit, that this command was not told
   * of: it would be noticed much later.
   *
   * @param otherwise another way to go on, and what comes of it
   */
  final void refuseGap(Object store, String otherwise) {
    if (tables.archive() == null && store instanceof ArchiveStore kept && kept.hasArchive()) {
      throw new Failure(
          "this outbox has an archive, and this command was not told what it keeps: add"
              + " --archive=full or --archive=metadata, as its relays are told, or "
              + otherwise);
    }
  }

  /** How many connections it uses at once. */
  int connections() {
    return 1;
  }

  /** Refuses options that cannot work, before anything is opened. */
  void check() {}

  /**
   * @param outbox the store; {@link Stores#as} gives what it can do
   */
  abstract int run(Object outbox, PrintWriter out);

  static String what(StoredMessage message) {
    return message.problem() == null
        ? message.message().toString()
        : "key %s, undecodable: %s".formatted(message.key(), message.problem());
  }

  /** What a message has beside what its row shows, and its payload. */
  static void printHead(OutboxMessage message, PrintWriter out) {
    line(out, "content type", message.contentType());
    line(out, "dedup key", message.dedupKey());
    line(out, "correlation", message.correlationId());
    for (Header header : message.headers()) {
      line(out, "header", header.name() + ": " + header.value());
    }
  }

  /** The payload's size, and its lines. */
  static void printPayload(OutboxMessage message, PrintWriter out) {
    line(out, "payload size", message.payloadSize() + " bytes");
    for (String line : Payload.shown(message).split("\n", -1)) {
      line(out, "payload", line);
    }
  }

  /**
   * @param value null: nothing is printed
   */
  static void line(PrintWriter out, String name, @Nullable Object value) {
    if (value != null) {
      out.printf("%-13s %s%n", name, Secrets.mask(Texts.printable(value.toString())));
    }
  }
}
