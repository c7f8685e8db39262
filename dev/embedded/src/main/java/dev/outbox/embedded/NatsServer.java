package dev.outbox.embedded;

import java.util.Optional;

/** A NATS with JetStream for tests. */
public interface NatsServer extends AutoCloseable {

  /** {@code nats://host:port}; of the user's own server it may have a user and a password. */
  String url();

  /** The embedded one, when it is one: that one can be killed, paused and restarted. */
  default Optional<EmbeddedNats> embedded() {
    return this instanceof EmbeddedNats ours ? Optional.of(ours) : Optional.empty();
  }

  /** Ends what was started for the test; a server of the user's own stays as it is. */
  @Override
  default void close() {}

  /**
   * The user's own server when the property {@code outbox.test.nats.url} or the variable {@code
   * OUTBOX_TEST_NATS_URL} names one; else a container, when Testcontainers is on the class path and
   * Docker runs; else the embedded one.
   */
  static NatsServer forTests() {
    return TestServers.<NatsServer>pick(
        "NATS",
        "outbox.test.nats.url",
        "nats://host:port",
        url -> () -> url, // a record would show the password
        "containers.GenericContainer",
        () -> Containers.Nats.start(),
        EmbeddedNats::start);
  }
}
