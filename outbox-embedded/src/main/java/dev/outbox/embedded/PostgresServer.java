package dev.outbox.embedded;

import java.util.Map;
import java.util.Optional;
import org.opentest4j.TestAbortedException;

/** A PostgreSQL for tests. */
public interface PostgresServer extends AutoCloseable {

  String jdbcUrl();

  String user();

  String password();

  /** The embedded server, when it is one: that one can be killed and restarted. */
  default Optional<EmbeddedPostgres> embedded() {
    return Optional.empty();
  }

  /** Ends what was started for the test; a server of the user's own stays as it is. */
  @Override
  default void close() {}

  /** {@link #forTests(Map)} without settings. */
  static PostgresServer forTests() {
    return forTests(Map.of());
  }

  /**
   * The user's own server when the property {@code outbox.test.postgres.url} (with {@code .user}
   * and {@code .password}) or the variable {@code OUTBOX_TEST_POSTGRES_URL} names one; else a
   * container, when Testcontainers is on the class path and Docker runs; else the embedded one.
   *
   * @param settings lines of {@code postgresql.conf}; the user's own server is left as it is
   * @throws TestAbortedException when there is none of them, with the reason; tests are then listed
   *     as skipped
   */
  static PostgresServer forTests(Map<String, String> settings) {
    return TestServers.postgres(settings);
  }
}
