package dev.outbox.dev.database;

import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.store.redis.RedisInboxStore;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
import dev.outbox.store.redis.RedisUrl;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A Redis. What others call a schema is what stands in the braces of keys. An oracle asks by
 * scripts, so that each looks at one moment.
 */
public final class RedisPlace implements Tortured<RedisTransaction> {
  private static final String NAME = "redis";
  private static final String OUTBOX = "{redis}:outbox:";

  /** Lists, and the number of the last message of each key. */
  private static final String BESIDE = "{redis}:torture:";

  private static final int SHOWN = 5;

  /** Of a scan's step. */
  private static final int SOME = 1_000;

  private final Address address;
  private final RedisUrl url;
  private final int size;
  private final RedisClient client;
  private final RedisOutboxStore store;

  RedisPlace(Address address, int size) {
    this.address = address;
    try {
      url = RedisUrl.of(address.url()).as(address.user(), address.password());
    } catch (IllegalArgumentException e) {
      throw new Failure("the URL %s cannot be read: %s".formatted(address, e.getMessage()), e);
    }
    if (url.tls()) {
      throw new Failure("tck does not go over TLS: give a URL that begins with redis:");
    }
    this.size = 2 * size; // a transaction reads beside itself
    client = url.client(this.size);
    store = RedisOutboxStore.of(client, NAME);
  }

  @Override
  public void check() {
    Stores.connect(in("outbox")).close(); // nothing is made in it
  }

  private <R> R tried(String problem, Function<RedisClient, R> work) {
    try {
      return work.apply(client);
    } catch (JedisException e) {
      throw new TransientOutboxException(problem + ": " + e.getMessage(), e);
    }
  }

  @Override
  public Map<String, String> about() {
    String version =
        tried("the server's version cannot be read", redis -> redis.info("server"))
            .lines()
            .filter(line -> line.startsWith("redis_version:"))
            .findFirst()
            .map(line -> line.substring(line.indexOf(':') + 1))
            .orElse("of an unknown version");
    return Map.of("database", "Redis " + version);
  }

  /** Sees whether it may. */
  @Override
  public void createSchema(String name) {
    String key = "{%s}:outbox".formatted(name);
    String set = tried("no key can be written on this server", redis -> redis.set(key, "1"));
    long unused = tried("no key can be removed on this server", redis -> redis.unlink(key));
  }

  @Override
  public List<String> schemas(String begin) {
    return keys(begin).stream().map(key -> key.substring(1, key.indexOf('}'))).distinct().toList();
  }

  @Override
  public void removeSchemas(String begin) {
    String[] keys = keys(begin).toArray(String[]::new);
    if (keys.length > 0) {
      String problem = "the keys {%s* could not be removed".formatted(begin);
      long unused = tried(problem, redis -> redis.unlink(keys));
    }
  }

  /** In steps: while the server looks for keys, all others wait. */
  private Collection<String> keys(String begin) {
    return tried(
        "the keys cannot be read",
        redis -> redis.scanIteration(SOME, "{" + begin + "*}:*").collect(new HashSet<>()));
  }

  @Override
  public Address in(String schema) {
    return new Address(address.url(), address.user(), address.password(), schema, address.prefix());
  }

  /** Connections need no name: none of them outlives this process, or holds anything. */
  @Override
  public Address named(String name) {
    return new Address(url.text(), "", "");
  }

  private static String lastOf(String key) {
    return BESIDE + "last:" + key;
  }

  /** Keys need not be made. */
  @Override
  public void create(int keys) {
    store.migrate();
  }

  @Override
  public void createInbox() {
    inbox(null).migrate();
  }

  @Override
  public RedisOutboxStore store() {
    return store;
  }

  @Override
  public RedisInboxStore inbox(@Nullable Duration retention) {
    RedisInboxStore.Builder inbox = RedisInboxStore.builder(client, NAME);
    return (retention == null ? inbox : inbox.retention(retention)).build();
  }

  private <R> R ask(Function<RedisClient, R> question) {
    return tried("Redis was asked in vain", question);
  }

  @Override
  public RedisTransaction open() {
    return RedisTransaction.begin(client);
  }

  /** Where one of our own commands fails, what was committed cannot be judged. */
  @Override
  public void commit(RedisTransaction transaction) {
    for (Object reply : transaction.exec()) {
      if (reply instanceof JedisDataException e) {
        throw new IllegalStateException("a command failed inside of EXEC", e);
      }
    }
  }

  @Override
  public void end(RedisTransaction transaction) {
    transaction.close();
  }

  @Override
  public void note(RedisTransaction transaction, String list, String note) {
    var unused = transaction.rpush(BESIDE + list, note);
  }

  @Override
  public List<String> notes(String list) {
    return ask(redis -> redis.lrange(BESIDE + list, 0, -1));
  }

  /** Whoever commits first has it: the other's EXEC does nothing. */
  @Override
  public int lock(RedisTransaction transaction, String key) {
    return ask(
        redis -> {
          String unused = transaction.watch(lastOf(key));
          String last = redis.get(lastOf(key));
          return last == null ? 0 : Integer.parseInt(last);
        });
  }

  @Override
  public void last(RedisTransaction transaction, String key, int number) {
    var unused = transaction.set(lastOf(key), Integer.toString(number));
  }

  @Override
  public void exhaust(long millis) {
    Tortured.exhaust(size, client.getPool()::getResource, millis);
  }

  /** The server says that it takes no more only when it is asked something. */
  @Override
  public Optional<AutoCloseable> connect() {
    Connection connection = new Connection(url.host(), url.port());
    try {
      boolean unused = connection.ping();
      return Optional.of(connection);
    } catch (JedisException e) {
      connection.close();
      return Optional.empty();
    }
  }

  /** Runs one of the scripts that are beside this class. */
  private List<String> run(String name) {
    String script = StoreKind.resource("redis.%s.lua".formatted(name));
    Object found = ask(redis -> redis.eval(script, List.of(OUTBOX), List.of()));
    return ((List<?>) found).stream().map(String::valueOf).toList();
  }

  @Override
  public long waiting() {
    return run("waiting").size();
  }

  @Override
  public String firstWaiting() {
    return run("waiting").stream().limit(SHOWN).toList().toString();
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

  @Override
  public void close() {
    client.close();
  }
}
