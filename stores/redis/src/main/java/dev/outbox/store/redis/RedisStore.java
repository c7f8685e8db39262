package dev.outbox.store.redis;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.store.SchemaStore;
import java.time.Duration;
import redis.clients.jedis.RedisClient;

/** What outbox and inbox on Redis have in common: their schema, their pool, and their settings. */
abstract class RedisStore implements SchemaStore {

  /** How long replicas are waited for unless told otherwise: 1 s. */
  public static final Duration DEFAULT_REPLICAS_TIME = Duration.ofSeconds(1);

  final Server server;

  RedisStore(Server server) {
    this.server = server;
  }

  @Override
  public final void migrate() {
    server.run(server.schema()::migrate);
  }

  @Override
  public final String ddl() {
    return server.schema().ddl();
  }

  @Override
  public final void verify() {
    server.run(server.schema()::verify);
  }

  @Override
  public final String place() {
    return server.place();
  }

  /**
   * The settings of both.
   *
   * @param <B> itself
   */
  abstract static class Builder<B extends Builder<B>> {
    private final RedisClient client;
    private final String name;
    private int replicas;
    private Duration replicasTime = DEFAULT_REPLICAS_TIME;
    private boolean checksDurability = true;

    Builder(RedisClient client, String name) {
      this.client = requireNonNull(client, "client");
      this.name = requireNonNull(name, "name");
    }

    @SuppressWarnings("unchecked")
    private B self() {
      return (B) this;
    }

    /**
     * How many replicas must have a message before it is published, and a lock or a result before
     * it is told. They have it in memory, and not all of them: Redis may still make one of the
     * others the primary. Default: 0.
     */
    public B replicas(int replicas) {
      this.replicas = replicas;
      return self();
    }

    /**
     * How long they are waited for, at least 1 ms; shorter than the client's time limit. Default: 1
     * s.
     */
    public B replicasTime(Duration replicasTime) {
      this.replicasTime = replicasTime;
      return self();
    }

    /**
     * Does not ask the server for {@code appendonly}, {@code appendfsync} and {@code
     * no-appendfsync-on-rewrite}: for servers that do not show their settings. Without them a crash
     * may forget what was committed and published, or handled.
     */
    public B uncheckedDurability() {
      checksDurability = false;
      return self();
    }

    /**
     * @param kind of its keys
     */
    final Server server(String kind) {
      return new Server(client, name, kind, replicas, replicasTime, checksDurability);
    }
  }
}
