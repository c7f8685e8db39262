package dev.outbox.embedded;

import java.util.Optional;

/** A Redis for tests, in which the tests may remove everything. */
public interface RedisServer extends AutoCloseable {

  /** {@code redis://host:port}; of the user's own server it may have a user and a password. */
  String url();

  /** The embedded one, when it is one: that one can be killed, paused and restarted. */
  default Optional<EmbeddedRedis> embedded() {
    return this instanceof EmbeddedRedis ours ? Optional.of(ours) : Optional.empty();
  }

  /** Ends what was started for the test; a server of the user's own stays as it is. */
  @Override
  default void close() {}

  /**
   * The user's own server when the property {@code outbox.test.redis.url} or the variable {@code
   * OUTBOX_TEST_REDIS_URL} names one; else the embedded one. All forget nothing that they have
   * acknowledged.
   */
  static RedisServer forTests() {
    return TestServers.<RedisServer>pick(
        "Redis",
        "outbox.test.redis.url",
        "redis://host:port",
        url -> () -> url, // a record would show the password
        "containers.GenericContainer",
        () -> Containers.Redis.start(),
        EmbeddedRedis::start);
  }
}
