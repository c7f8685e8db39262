package dev.outbox.cli;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A server that was started for a command.
 *
 * @param log what it writes, where that can be read
 * @param end ends it
 */
public record StartedServer(Address address, Optional<Path> log, Runnable end)
    implements AutoCloseable {

  /** With a URL of another driver. */
  static StartedServer of(DatabaseServer server, String url) {
    return new StartedServer(
        new Address(url, server.user(), server.password()),
        server.embedded().map(EmbeddedServer::log),
        server::close);
  }

  static StartedServer of(DatabaseServer server) {
    return of(server, server.jdbcUrl());
  }

  @Override
  public void close() {
    end.run();
  }
}
