package dev.outbox.cli;

import dev.outbox.relay.Relay;
import dev.outbox.spi.MessagePublisher;
import dev.outbox.spi.ReachablePublisher;
import dev.outbox.spi.StoreProvider.Opened;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** A relay from a configuration, with its pool and its publisher. */
public final class RelayProcess implements AutoCloseable {
  private final Opened outbox;
  private final MessagePublisher publisher;
  private final Relay relay;

  private RelayProcess(Opened outbox, MessagePublisher publisher, Relay relay) {
    this.outbox = outbox;
    this.publisher = publisher;
    this.relay = relay;
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
    Stores.connect(config.address()).close();
    Opened outbox =
        Stores.open(config.address(), config.dedupWindow(), Math.max(1, config.workers()) + 1);
    MessagePublisher publisher = null;
    try {
      publisher = config.publisher();
      Relay.Builder relay = Relay.builder(outbox.store(), publisher);
      config.configure(relay);
      RelayProcess process = new RelayProcess(outbox, publisher, relay.build());
      LoggerFactory.getLogger(RelayProcess.class)
          .info(
              "From {} to {}",
              config.address(),
              publisher instanceof ReachablePublisher there
                  ? there.address()
                  : config.text(Publishers.NAMES, Publishers.DEFAULT));
      process.relay.start();
      return process;
    } catch (RuntimeException e) {
      close(publisher, outbox);
      throw e instanceof IllegalArgumentException
          ? new Failure(String.valueOf(e.getMessage()), e)
          : e;
    }
  }

  /** Stops the relay, then what it used. */
  @Override
  public void close() {
    relay.close();
    close(publisher, outbox);
  }

  private static void close(@Nullable MessagePublisher publisher, Opened outbox) {
    if (publisher != null) {
      publisher.close();
    }
    outbox.close();
  }
}
