package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.embedded.EmbeddedServer;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A broker that is one of the embedded servers. */
abstract class EmbeddedBroker<S extends EmbeddedServer> implements DemoBroker {
  private final String label;
  private volatile @Nullable S server;

  EmbeddedBroker(String label) {
    this.label = label;
  }

  @Override
  public final String label() {
    return label;
  }

  /**
   * Starts the server.
   *
   * @param needs what to install where it cannot be started
   */
  final void start(Supplier<S> starting, String needs) {
    try {
      server = starting.get();
    } catch (UnsupportedOperationException | IllegalArgumentException | UncheckedIOException e) {
      throw new Failure(
          "there is no %s to be started here; install %s (%s)"
              .formatted(label, needs, e.getMessage()),
          e);
    }
  }

  /** The one that was started. */
  final Optional<S> server() {
    return Optional.ofNullable(server);
  }

  /** The same, where none is the user's. */
  final S running() {
    return server().orElseThrow(() -> new IllegalStateException(label + " is not there yet"));
  }

  @Override
  public final boolean canStop() {
    return server != null;
  }

  @Override
  public final void stop() {
    server().ifPresent(EmbeddedServer::stop);
  }

  @Override
  public final void restart() {
    server().ifPresent(EmbeddedServer::restart);
  }

  @Override
  public final Optional<Path> log() {
    return server().map(EmbeddedServer::log);
  }

  @Override
  public void close() {
    server().ifPresent(EmbeddedServer::close);
  }
}
