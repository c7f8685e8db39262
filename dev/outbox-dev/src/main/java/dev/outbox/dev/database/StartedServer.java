package dev.outbox.dev.database;

import dev.outbox.cli.Address;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedServer;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A server that was started for a command.
 *
 * @param embedded all that is in it is gone when it ends; null: it is a container, or the user's
 *     own
 * @param end ends it
 */
public record StartedServer(Address address, @Nullable EmbeddedServer embedded, Runnable end)
    implements AutoCloseable {

  static StartedServer of(DatabaseServer server) {
    return new StartedServer(
        new Address(server.jdbcUrl(), server.user(), server.password()),
        server.embedded().orElseThrow(),
        server::close);
  }

  /** Its first process, where it is one of this machine. */
  public OptionalLong pid() {
    return embedded == null ? OptionalLong.empty() : OptionalLong.of(embedded.pid());
  }

  @Override
  public void close() {
    end.run();
  }
}
