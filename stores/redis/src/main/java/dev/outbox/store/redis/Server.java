package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Texts;
import dev.outbox.TransientOutboxException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** The server, as a store with its keys uses it. Safe for use by many threads. */
final class Server {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_.-]{1,60}");

  private final RedisClient client;
  private final String prefix;
  private final Schema schema;
  private final int replicas;
  private final Duration patience;

  /**
   * @param name what stands in the hash tag
   * @param kind as {@code outbox}
   * @param replicas how many must have what a claim or an inbox has written
   * @param patience how long they are waited for
   */
  Server(
      RedisClient client,
      String name,
      String kind,
      int replicas,
      Duration patience,
      boolean checksDurability) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "the name '%s' is not plain: use 1 to 60 letters, digits, dots, hyphens and underscores"
              .formatted(name));
    }
    if (replicas < 0) {
      throw new IllegalArgumentException("replicas is " + replicas + ", at least 0 is needed");
    }
    if (patience.toMillis() < 1) {
      throw new IllegalArgumentException(
          "the time for replicas is %s, at least 1 ms is needed".formatted(Texts.time(patience)));
    }
    this.client = client;
    this.prefix = "{%s}:%s:".formatted(name, kind);
    this.replicas = replicas;
    this.patience = patience;
    schema = new Schema(prefix, checksDurability);
  }

  /** Before the name of each key. */
  String prefix() {
    return prefix;
  }

  Schema schema() {
    return schema;
  }

  /** As {@link #on}, of what gives nothing. */
  void run(Consumer<Connection> work) {
    boolean unused =
        on(
            connection -> {
              work.accept(connection);
              return true;
            });
  }

  /** For people. */
  String place() {
    return on(
        connection -> "keys %s* of Redis at %s".formatted(prefix, connection.getHostAndPort()));
  }

  /** Of the client's pool; empty: it has no limit. */
  OptionalInt maxConnections() {
    int most = client.getPool().getMaxTotal();
    return most < 0 ? OptionalInt.empty() : OptionalInt.of(most);
  }

  /** The arguments of a script begin with the version of the schema. */
  static Arguments arguments() {
    return new Arguments().add(Schema.VERSION);
  }

  List<byte[]> keys() {
    return List.of(prefix.getBytes(UTF_8));
  }

  /** Does something on a connection of its own. */
  <R> R on(Function<Connection, R> work) {
    try (Connection connection = client.getPool().getResource()) {
      try {
        return work.apply(connection);
      } catch (JedisException e) {
        throw Errors.translate(e, prefix, connection);
      }
    } catch (JedisException e) {
      throw Errors.translate(e, prefix);
    }
  }

  /** Runs a script that only reads, or whose writing may be lost with a primary. */
  Object run(Script script, Arguments arguments) {
    return on(connection -> script.run(connection, keys(), arguments.list()));
  }

  /**
   * What a script has done.
   *
   * @param lacking too few replicas have it; null: as many as were asked for
   */
  record Done(Object reply, @Nullable TransientOutboxException lacking) {

    Object orThrow() {
      if (lacking != null) {
        throw lacking;
      }
      return reply;
    }
  }

  /**
   * Runs a script, and returns when the replicas that are asked for have what it wrote and what it
   * read, or have been waited for.
   */
  Done runReplicated(Script script, Arguments arguments) {
    return on(connection -> runReplicated(connection, script, arguments));
  }

  /** The same on a server that is as it must be: what begins something. */
  Done runVerified(Script script, Arguments arguments) {
    return on(
        connection -> {
          schema.verifyOnce(connection);
          return runReplicated(connection, script, arguments);
        });
  }

  private Done runReplicated(Connection connection, Script script, Arguments arguments) {
    Object reply = script.run(connection, keys(), arguments.list());
    return new Done(reply, awaitReplicas(connection));
  }

  /** For what this connection has written, and all that was written before. */
  private @Nullable TransientOutboxException awaitReplicas(Connection connection) {
    if (replicas == 0) {
      return null;
    }
    long have =
        (Long)
            connection.executeCommand(
                new CommandArguments(Command.WAIT).add(replicas).add(patience.toMillis()));
    return have >= replicas
        ? null
        : new TransientOutboxException(
            "%s replicas of Redis have acknowledged within %s ms, and %s are asked for: nothing goes on that a failover may lose; start them, or ask for fewer with replicas(…)"
                .formatted(have, patience.toMillis(), replicas));
  }
}
