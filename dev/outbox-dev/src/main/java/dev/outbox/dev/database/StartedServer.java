package dev.outbox.dev.database;

import dev.outbox.cli.Address;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.MongoServer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A server that was started for a command.
 *
 * @param vanishes whether all that is in it is gone when it ends
 * @param log what it writes, where that can be read
 * @param pid its first process, where it is one of this machine
 * @param end ends it
 */
public record StartedServer(
    Address address, boolean vanishes, Optional<Path> log, OptionalLong pid, Runnable end)
    implements AutoCloseable {

  /** With a URL of another driver. */
  static StartedServer of(DatabaseServer server, String url) {
    return new StartedServer(
        new Address(url, server.user(), server.password()),
        true,
        server.embedded().map(EmbeddedServer::log),
        server.embedded().stream().mapToLong(EmbeddedServer::pid).findFirst(),
        server::close);
  }

  static StartedServer of(DatabaseServer server) {
    return of(server, server.jdbcUrl());
  }

  /** It may be the user's own. */
  static StartedServer of(MongoServer server) {
    return new StartedServer(
        new Address(server.connectionString(), "", ""),
        false,
        Optional.empty(),
        OptionalLong.empty(),
        server::close);
  }

  @Override
  public void close() {
    end.run();
  }
}
