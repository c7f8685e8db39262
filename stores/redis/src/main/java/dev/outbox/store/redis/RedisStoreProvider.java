package dev.outbox.store.redis;

import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.store.core.internal.Unreachable;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLException;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Opens the store of a URL of Redis. What elsewhere is a schema is here the name in braces that all
 * keys begin with.
 */
public final class RedisStoreProvider implements StoreProvider {

  @Override
  public String name() {
    return "redis";
  }

  @Override
  public String exampleUrl() {
    return "redis://host:6379";
  }

  @Override
  public List<String> urlPrefixes() {
    return RedisUrl.BEGIN;
  }

  @Override
  public Opened open(Settings settings) {
    if (settings.schema() == null) {
      throw new IllegalArgumentException(
          "no schema is given, and on Redis it is the name that all keys begin with: name it, as shop for keys that begin with {shop}:outbox:");
    }
    requireDefault(settings.prefix(), Settings.DEFAULT_PREFIX, settings.schema(), "outbox");
    settings.history().requireNone("Redis");
    RedisUrl url = url(settings);
    RedisClient client = url.client(settings.connections());
    try {
      RedisOutboxStore.Builder store = RedisOutboxStore.builder(client, settings.schema());
      if (settings.dedupWindow() != null) {
        store.dedupWindow(settings.dedupWindow());
      }
      configure(store, url);
      return new OpenedByRedis(settings, settings.schema(), url, client, store.build());
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  /** A prefix that is never looked at would be taken for kept. */
  private static void requireDefault(String prefix, String usual, String name, String kind) {
    if (!prefix.equals(usual)) {
      throw new IllegalArgumentException(
          "a prefix is given, %s, and on Redis there is none: the keys begin with {%s}:%s:, where %s is the schema"
              .formatted(prefix, name, kind, name));
    }
  }

  private static RedisUrl url(Settings settings) {
    RedisUrl url;
    try {
      url = RedisUrl.of(settings.url()).as(settings.user(), settings.password());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the URL %s cannot be read: %s".formatted(settings.url(), e.getMessage()), e);
    }
    if (!url.user().isEmpty() && url.password().isEmpty()) {
      throw new PasswordMissingException("the user %s has no password".formatted(url.user()), null);
    }
    return url;
  }

  private static void configure(RedisStore.Builder<?> store, RedisUrl url) {
    store.replicas(url.replicas());
    if (url.uncheckedDurability()) {
      store.uncheckedDurability();
    }
  }

  private record OpenedByRedis(
      Settings settings, String name, RedisUrl url, RedisClient client, RedisOutboxStore store)
      implements Opened {

    @Override
    public Optional<InboxStore<?>> inbox(String prefix) {
      requireDefault(prefix, InboxStore.DEFAULT_PREFIX, name, "inbox");
      RedisInboxStore.Builder inbox = RedisInboxStore.builder(client, name);
      configure(inbox, url);
      return Optional.of(inbox.build());
    }

    @Override
    public void check() {
      try (Connection connection = client.getPool().getResource()) {
        if ("sentinel".equals(Schema.info(connection).get("redis_mode"))) {
          throw new PermanentOutboxException(
              "%s is a Sentinel, which keeps no data: give the URL of the primary"
                  .formatted(settings.url()));
        }
      } catch (JedisException e) {
        String said = String.valueOf(e.getMessage());
        if (said.startsWith("NOAUTH")) {
          throw new PasswordMissingException(
              "the Redis at %s wants a password".formatted(settings.url()), e);
        }
        throw new PermanentOutboxException(
            "cannot connect to %s: %s".formatted(settings.url(), reason(e, said)), e);
      }
    }

    private String reason(JedisException e, String said) {
      if (said.startsWith("WRONGPASS")) {
        return "it refused the %s, check user and password: %s"
            .formatted(url.user().isEmpty() ? "password" : "user " + url.user(), said);
      }
      if (e instanceof JedisDataException) {
        return said; // by the server
      }
      Throwable root = root(e);
      Optional<String> unreachable = Unreachable.reason(root);
      if (unreachable.isPresent()) {
        return unreachable.get();
      }
      if (root instanceof SSLException || url.tls()) {
        return root.getMessage()
            + "; does that port speak TLS, and does this Java trust the server's certificate?";
      }
      return root == e
          ? said
          : root.getMessage() + "; is that a Redis, and one without TLS? For TLS write rediss://";
    }

    /** Where Jedis has tried several addresses, what came of them is beside the cause. */
    private static Throwable root(Throwable e) {
      Throwable[] tried = e.getSuppressed();
      return e.getCause() != null ? root(e.getCause()) : tried.length > 0 ? root(tried[0]) : e;
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
