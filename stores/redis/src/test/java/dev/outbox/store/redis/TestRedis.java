package dev.outbox.store.redis;

import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.opentest4j.TestAbortedException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/** A server, a client behind a proxy, and a hash tag that nobody else has. */
final class TestRedis implements AutoCloseable {
  /** One for all tests of a suite, or why there is none. */
  static final class OfSuite {
    private TestRedis redis;
    private TestAbortedException noServer;

    /** Says whether there is one. */
    boolean start() {
      try {
        redis = new TestRedis();
      } catch (TestAbortedException e) {
        noServer = e;
      }
      return redis != null;
    }

    void stop() {
      if (redis != null) {
        redis.close();
      }
    }

    /** Skips the test with the reason when there is no server: reports list them. */
    TestRedis get() {
      if (noServer != null) {
        throw noServer;
      }
      return redis;
    }
  }

  private static final int CONNECTIONS = 64;

  /** Of a scan's step. */
  private static final int SOME = 1_000;

  final TestServer server = TestServer.redis();
  final LossyProxy proxy;
  final RedisClient client;
  final String name =
      System.getProperty("outbox.test.schema", "test")
          + "-"
          + UUID.randomUUID().toString().substring(0, 8);

  TestRedis() {
    URI url = URI.create(server.address());
    try {
      proxy = new LossyProxy(url.getHost(), url.getPort());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    client =
        client(
            server
                .address()
                .replace(url.getHost() + ":" + url.getPort(), "127.0.0.1:" + proxy.port()));
  }

  static RedisClient client(String url) {
    return client(url, CONNECTIONS);
  }

  static RedisClient client(String url, int connections) {
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setMaxTotal(connections);
    pool.setMaxIdle(connections);
    pool.setMaxWait(Duration.ofSeconds(30));
    return RedisClient.builder().fromURI(url).poolConfig(pool).build();
  }

  /** As the server's URL says. */
  <B extends RedisStore.Builder<B>> B configured(B builder) {
    RedisUrl url = RedisUrl.of(server.address());
    return url.uncheckedDurability() ? builder.uncheckedDurability() : builder;
  }

  /** The server may be the user's own: all others wait while it looks for keys at once. */
  Set<String> keys(String pattern) {
    Set<String> found = new HashSet<>();
    ScanParams some = new ScanParams().match(pattern).count(SOME);
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> scanned = client.scan(cursor, some);
      found.addAll(scanned.getResult());
      cursor = scanned.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    return found;
  }

  /** Whether a transaction was told to begin anew. */
  static boolean isToRunAgain(Throwable failure) {
    return failure instanceof TransientOutboxException
        && failure.getMessage().contains("run the whole transaction again");
  }

  /** A command that is refused inside of EXEC is an error in a list. */
  void inTransaction(Consumer<RedisTransaction> work) {
    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      work.accept(transaction);
      for (Object reply : transaction.exec()) {
        if (reply instanceof JedisDataException refused) {
          throw refused;
        }
      }
    }
  }

  /** One that has ended: there is no other way to have none. */
  void withoutTransaction(Consumer<RedisTransaction> work) {
    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      String unused = transaction.discard();
      work.accept(transaction);
    }
  }

  /** Removes all keys but that of the schema. */
  void reset(String kind) {
    remove(kind, key -> !key.equals(schema(kind)));
  }

  void remove(String kind, Predicate<String> which) {
    String[] keys =
        keys("{%s}:%s:*".formatted(name, kind)).stream().filter(which).toArray(String[]::new);
    if (keys.length > 0) {
      long unused = client.unlink(keys);
    }
  }

  /** The key with the version. */
  String schema(String kind) {
    return "{%s}:%s:schema".formatted(name, kind);
  }

  void setSchema(String kind, int version) {
    String unused = client.set(schema(kind), Integer.toString(version));
  }

  /** Subtracts from the scores of sorted sets. */
  void earlier(String kind, Duration by, String... zsets) {
    for (String zset : zsets) {
      String key = "{%s}:%s:%s".formatted(name, kind, zset);
      for (String member : client.zrange(key, 0, -1)) {
        double unused = client.zincrby(key, -Arguments.micros(by), member);
      }
    }
  }

  /** Subtracts from a field of all hashes whose names begin so. */
  void fieldEarlier(String kind, Duration by, String hashes, String field) {
    for (String key : keys("{%s}:%s:%s:*".formatted(name, kind, hashes))) {
      if (client.hexists(key, field)) {
        long unused = client.hincrBy(key, field, -Arguments.micros(by));
      }
    }
  }

  /** Says whether the connection broke, and the work failed for it. */
  boolean breaking(LossyProxy.Fault fault, Runnable work) {
    proxy.next(fault);
    try {
      work.run();
    } catch (TransientOutboxException e) {
      if (proxy.hasHappened()) {
        return true;
      }
      throw e;
    } finally {
      proxy.next(null); // none breaks in a test that comes later
    }
    return false;
  }

  void losingTheReply(Runnable work) {
    if (!breaking(LossyProxy.Fault.LOSE_REPLY, work)) {
      throw new IllegalStateException("the work did not notice that the reply was lost");
    }
  }

  @Override
  public void close() {
    String[] keys = keys("{%s}:*".formatted(name)).toArray(String[]::new);
    if (keys.length > 0) {
      long unused = client.unlink(keys);
    }
    client.close();
    try {
      proxy.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.close();
  }
}
