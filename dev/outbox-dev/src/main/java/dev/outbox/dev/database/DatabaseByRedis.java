package dev.outbox.dev.database;

import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.store.redis.RedisUrl;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/** A Redis. What others call a schema is what stands in the braces of keys. */
final class DatabaseByRedis implements Database {
  /** Nothing is made in it. */
  private static final String ANY = "outbox";

  /** Of a scan's step. */
  private static final int SOME = 1_000;

  private final Address address;
  private final RedisUrl url;
  private final RedisClient client;

  private DatabaseByRedis(Address address, RedisUrl url) {
    this.address = address;
    this.url = url;
    client = url.client(1);
  }

  static DatabaseByRedis at(Address address) {
    RedisUrl url;
    try {
      url = RedisUrl.of(address.url()).as(address.user(), address.password());
    } catch (IllegalArgumentException e) {
      throw new Failure("the URL %s cannot be read: %s".formatted(address, e.getMessage()), e);
    }
    if (url.tls()) {
      throw new Failure(
          "the TCK breaks connections, which it cannot where they speak TLS: give a URL that begins with redis:");
    }
    return new DatabaseByRedis(address, url);
  }

  @Override
  public void check() {
    Stores.connect(in(ANY)).close();
  }

  @Override
  public String server() {
    Properties server = new Properties();
    client.info("server").lines().forEach(line -> put(server, line.split(":", 2)));
    return "Redis " + server.getProperty("redis_version", "of an unknown version");
  }

  private static void put(Properties into, String[] parts) {
    if (parts.length == 2) {
      into.setProperty(parts[0], parts[1]);
    }
  }

  /** Sees whether it may. */
  @Override
  public void createSchema(String name) {
    run("no key can be written on this server", redis -> redis.set(key(name), "1"));
    run("no key can be removed on this server", redis -> redis.unlink(key(name)));
  }

  private static String key(String name) {
    return "{%s}:outbox".formatted(name);
  }

  @Override
  public List<String> schemas(String begin) {
    Set<String> names = new HashSet<>();
    forKeys(begin, keys -> keys.forEach(key -> names.add(key.substring(1, key.indexOf('}')))));
    return List.copyOf(names);
  }

  @Override
  public void removeSchemas(String begin) {
    forKeys(begin, keys -> client.unlink(keys.toArray(String[]::new)));
  }

  /** In steps: while the server looks for keys, all others wait. */
  private void forKeys(String begin, Consumer<List<String>> work) {
    ScanParams some = new ScanParams().match("{" + begin + "*}:*").count(SOME);
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      String from = cursor;
      ScanResult<String> found = run("the keys cannot be read", redis -> redis.scan(from, some));
      if (!found.getResult().isEmpty()) {
        run(
            "the keys {%s* could not be removed".formatted(begin),
            redis -> {
              work.accept(found.getResult());
              return true;
            });
      }
      cursor = found.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
  }

  private <R> R run(String otherwise, Function<RedisClient, R> work) {
    try {
      return work.apply(client);
    } catch (JedisException e) {
      throw new Failure("%s: %s".formatted(otherwise, e.getMessage()), e);
    }
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

  @Override
  public void close() {
    client.close();
  }
}
