package dev.outbox.dev.torture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.TransientOutboxException;
import dev.outbox.dev.torture.Oracle.Committed;
import dev.outbox.dev.torture.Oracle.DeadLetter;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;

/** Redis, which is asked by scripts of its own, so that each looks at one moment. */
final class RedisTortured implements Tortured {
  private static final String OUTBOX = "{redis}:outbox:";

  private static final String CLIENTS = "100";
  private static final int SHOWN = 5;

  private final EmbeddedRedis server;
  private final RedisPlace place;
  private final RedisClient client;

  private RedisTortured(EmbeddedRedis server) {
    this.server = server;
    place = new RedisPlace(server.url(), 2);
    client = place.client();
  }

  static RedisTortured start() {
    return new RedisTortured(EmbeddedRedis.start("--maxclients", CLIENTS));
  }

  @Override
  public EmbeddedServer server() {
    return server;
  }

  @Override
  public int port() {
    return server.port();
  }

  @Override
  public Map<String, String> settings(int proxyPort) {
    return Map.of("url", "redis://127.0.0.1:" + proxyPort, "user", "", "password", "");
  }

  @Override
  public RedisOutboxStore store() {
    return place.store();
  }

  @Override
  public RedisPlace place() {
    return place;
  }

  private <R> R ask(Function<RedisClient, R> question) {
    try {
      return question.apply(client);
    } catch (JedisException e) {
      throw new TransientOutboxException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Runs one of the scripts that are beside this class. */
  private List<String> run(String name, String... arguments) {
    String script;
    try (InputStream in =
        requireNonNull(RedisTortured.class.getResourceAsStream("redis.%s.lua".formatted(name)))) {
      script = new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Object found = ask(redis -> redis.eval(script, List.of(OUTBOX), List.of(arguments)));
    return ((List<?>) found).stream().map(String::valueOf).toList();
  }

  @Override
  public long waiting() {
    return run("messages", "waiting").size();
  }

  @Override
  public String firstWaiting() {
    return run("messages", "waiting").stream().limit(SHOWN).toList().toString();
  }

  @Override
  public List<String> wrong() {
    return run("wrong");
  }

  /** Keys. */
  @Override
  public long held() {
    return ask(redis -> redis.zcard(OUTBOX + "leases"));
  }

  @Override
  public Duration longestHold() {
    return RedisTransaction.LONGEST;
  }

  private List<String> list(String key) {
    return ask(redis -> redis.lrange(key, 0, -1));
  }

  @Override
  public List<Committed> committed() {
    return list(RedisPlace.COMMITTED).stream()
        .map(
            line -> {
              String[] part = line.split(" ", 5);
              return new Committed(
                  new Work(
                      UUID.fromString(part[0]),
                      part[1],
                      Integer.parseInt(part[2]),
                      Work.Kind.valueOf(part[3])),
                  part[4].isEmpty() ? null : part[4]);
            })
        .toList();
  }

  @Override
  public Set<String> refused() {
    return list(RedisPlace.REFUSED).stream().collect(Collectors.toSet());
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return run("messages", "dead").stream()
        .map(line -> line.split(" "))
        .map(part -> new DeadLetter(UUID.fromString(part[1]), Long.parseLong(part[0])))
        .toList();
  }

  /** There is no archive. */
  @Override
  public Optional<Kept> kept() {
    return Optional.empty();
  }

  /** The server says that it has no more only when it is asked something. */
  @Override
  public Optional<AutoCloseable> connect() {
    Connection connection = new Connection("127.0.0.1", server.port());
    try {
      boolean unused = connection.ping();
      return Optional.of(connection);
    } catch (JedisException e) {
      connection.close();
      return Optional.empty();
    }
  }

  /** Nothing removed stays. */
  @Override
  public Optional<AutoCloseable> snapshot() {
    return Optional.empty();
  }

  @Override
  public void close() {
    place.close();
    server.close();
  }
}
