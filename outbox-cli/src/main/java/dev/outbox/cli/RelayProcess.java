package dev.outbox.cli;

import static java.util.Objects.requireNonNullElseGet;

import dev.outbox.inbox.InboxHousekeeping;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.ui.OutboxPage;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A relay from a configuration, with its pool and its publisher. */
public final class RelayProcess implements AutoCloseable {
  private final Opened outbox;
  private final MessagePublisher publisher;
  private final Relay relay;
  private final @Nullable InboxHousekeeping inbox;
  private final @Nullable RelayServer server;

  private RelayProcess(
      Opened outbox,
      MessagePublisher publisher,
      Relay relay,
      @Nullable InboxHousekeeping inbox,
      @Nullable RelayServer server) {
    this.outbox = outbox;
    this.publisher = publisher;
    this.relay = relay;
    this.inbox = inbox;
    this.server = server;
  }

  /**
   * Starts what the properties describe, logging to standard error; variables are filled in.
   *
   * @throws Failure when a setting is refused or the database does not answer
   */
  public static RelayProcess start(Properties properties) {
    Logs.toStandardError(properties.getProperty("log.level", "info").strip());
    return start(RelayConfig.of(properties, System::getenv));
  }

  private static RelayProcess start(RelayConfig config) {
    try (Opened once = Stores.connect(config.address())) {
      String gap = gap(config, once.store());
      if (gap != null) {
        PageSettings server = config.server();
        if (server != null && server.allowChanges()) {
          throw new Failure(gap + "; ui.allowChanges needs it");
        }
        LoggerFactory.getLogger(RelayProcess.class).warn(gap);
      }
    }
    Opened outbox = Stores.open(config.address(), config.dedupWindow(), connections(config));
    MessagePublisher publisher = null;
    InboxHousekeeping inbox = null;
    RelayServer server = null;
    try {
      publisher = config.publisher();
      Relay.Builder relay = Relay.builder(outbox.store(), publisher);
      config.configure(relay);
      PageSettings settings = config.server();
      if (settings != null) {
        server = new RelayServer(outbox.store());
        relay.listener(server);
      }
      Relay built = relay.build();
      inbox = inbox(outbox, config.inboxPrefix());
      if (settings != null && server != null) {
        server.serve(settings, config.hasPage(), built);
      }
      RelayProcess process = new RelayProcess(outbox, publisher, built, inbox, server);
      LoggerFactory.getLogger(RelayProcess.class)
          .info(
              "From {} to {}",
              config.address(),
              requireNonNullElseGet(
                  publisher.address(), () -> config.text(Publishers.NAMES, Publishers.DEFAULT)));
      process.relay.start();
      return process;
    } catch (RuntimeException e) {
      close(server, inbox, publisher, outbox);
      throw e instanceof IllegalArgumentException
          ? new Failure(String.valueOf(e.getMessage()), e)
          : e;
    }
  }

  /**
   * A warning for a relay that was not told of an archive that is there, or null. Messages that are
   * missing in an archive would be noticed much later.
   */
  static @Nullable String gap(RelayConfig config, OutboxStore<?> store) {
    return !config.saysArchive() && store instanceof ArchiveStore archive && archive.hasArchive()
        ? "This outbox has an archive, and this relay keeps nothing in it: set store.archive to full or metadata, as the other relays do, or to none if that is what you want"
        : null;
  }

  /**
   * One for each worker, one that holds, one for the relay's housekeeping, one for an inbox's, and
   * those of what is served.
   */
  private static int connections(RelayConfig config) {
    return Math.max(1, config.workers())
        + (config.inboxPrefix() == null ? 2 : 3)
        + (config.server() == null ? 0 : RelayServer.CONNECTIONS)
        + (config.hasPage() ? OutboxPage.MOST_READS : 0);
  }

  /** Purges the inbox beside the outbox, where there is one. */
  private static @Nullable InboxHousekeeping inbox(Opened outbox, @Nullable String prefix) {
    if (prefix == null) {
      return null;
    }
    InboxStore<?> inbox = Stores.inbox(outbox, prefix);
    if (inbox instanceof SchemaStore schema) {
      schema.verify();
    }
    return InboxHousekeeping.start(
        inbox::housekeep,
        e ->
            LoggerFactory.getLogger(RelayProcess.class)
                .warn(
                    "The inbox {}* was not purged, the next try is in {}: {}",
                    prefix,
                    InboxHousekeeping.PAUSE,
                    e.getMessage()));
  }

  /** Stops the relay, then what it used. */
  @Override
  public void close() {
    relay.close();
    close(server, inbox, publisher, outbox);
  }

  private static void close(
      @Nullable RelayServer server,
      @Nullable InboxHousekeeping inbox,
      @Nullable MessagePublisher publisher,
      Opened outbox) {
    if (server != null) {
      server.close();
    }
    if (inbox != null) {
      inbox.close();
    }
    if (publisher != null) {
      publisher.close();
    }
    outbox.close();
  }
}
