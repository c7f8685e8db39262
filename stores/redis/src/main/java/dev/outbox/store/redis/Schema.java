package dev.outbox.store.redis;

import static java.util.stream.Collectors.toMap;

import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.SchemaVersion;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandObjects;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.SetParams;

/**
 * The one key that says which version of this library the others are of, and the settings of the
 * server that nothing works without. Safe for use by many threads.
 */
final class Schema {

  /** Of how the keys of an outbox and an inbox are laid out. */
  static final String VERSION = "1";

  private static final int OLDEST = 7;

  private final String prefix;
  private final String key;
  private final boolean checksDurability;

  /** Another connection may lead to another server, or to one that has other settings by now. */
  private final Set<Connection> verified =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private volatile boolean mayUseMulti;

  Schema(String prefix, boolean checksDurability) {
    this.prefix = prefix;
    this.checksDurability = checksDurability;
    key = prefix + "schema";
  }

  /** The command that makes it. */
  String ddl() {
    return "SET %s %s NX%n".formatted(key, VERSION);
  }

  void migrate(Connection connection) {
    refuseSentinel(info(connection));
    String unused =
        connection.executeCommand(
            commands(connection).set(key, VERSION, SetParams.setParams().nx()));
  }

  String key() {
    return key;
  }

  /**
   * Only once for each connection: the scripts, and the guard of a transaction, ask for the version
   * each time.
   */
  void verifyOnce(Connection connection) {
    if (!verified.contains(connection)) {
      verify(connection);
    }
  }

  /** Whether a transaction with it has found out that the server takes MULTI from this user. */
  boolean mayUseMulti() {
    return mayUseMulti;
  }

  void multiWasTaken() {
    mayUseMulti = true;
  }

  void verify(Connection connection) {
    checkServer(connection);
    if (checksDurability) {
      checkSetting(connection, "appendonly", "yes");
      checkSetting(connection, "appendfsync", "always");
      checkSetting(connection, "no-appendfsync-on-rewrite", "no");
    }
    String found = connection.executeCommand(commands(connection).get(key));
    if (!VERSION.equals(found)) {
      throw wrong(prefix, found);
    }
    boolean unused = verified.add(connection);
  }

  private static CommandObjects commands(Connection connection) {
    return new CommandObjects(RedisProtocol.orServerDefault(connection.getRedisProtocol()));
  }

  private static void refuseSentinel(Map<String, String> info) {
    if ("sentinel".equals(info.get("redis_mode"))) {
      throw new SchemaException(
          "this is a Sentinel, which keeps no keys: connect to the primary that it watches");
    }
  }

  private static void checkServer(Connection connection) {
    Map<String, String> info = info(connection);
    refuseSentinel(info);
    String version = info.getOrDefault("redis_version", "0");
    if (Integer.parseInt(version.split("\\.", 2)[0]) < OLDEST) {
      throw new SchemaException(
          "Redis %s is too old: the outbox needs 7.0 or newer".formatted(version));
    }
    if (!info.getOrDefault("role", "master").equals("master")) {
      connection.setBroken(); // another one may lead to the primary
      throw new TransientOutboxException(
          "this Redis is a replica, and nothing can be written there: connect to the primary");
    }
    String policy = info.getOrDefault("maxmemory_policy", "unknown");
    if (!policy.equals("noeviction")) {
      throw new SchemaException(
          "maxmemory-policy of this Redis is %s, so it may throw away messages that wait: set maxmemory-policy noeviction"
              .formatted(policy));
    }
  }

  private static void checkSetting(Connection connection, String setting, String needed) {
    @Nullable String found;
    try {
      found = connection.executeCommand(commands(connection).configGet(setting)).get(setting);
    } catch (JedisDataException e) {
      throw new SchemaException(
          "this Redis does not show its setting %s, which must be %s: allow CONFIG GET, or say uncheckedDurability(), in a URL ?uncheckedDurability=true, if it forgets no transaction that was committed (%s)"
              .formatted(setting, needed, e.getMessage()),
          e);
    }
    if (!needed.equals(found)) {
      throw new SchemaException(
          "%s of this Redis is %s, so a crash may forget transactions that were committed: set %s %s"
              .formatted(setting, found, setting, needed));
    }
  }

  /** What the server says of itself, by name. */
  static Map<String, String> info(Connection connection) {
    return connection
        .executeCommand(commands(connection).info())
        .lines()
        .map(line -> line.split(":", 2))
        .filter(parts -> parts.length == 2)
        .collect(toMap(parts -> parts[0], parts -> parts[1], (first, last) -> last));
  }

  /**
   * What is said of a version that is not this library's.
   *
   * @param found null: there is none
   */
  static SchemaException wrong(String prefix, @Nullable String found) {
    if (found == null) {
      return SchemaVersion.missing(
          "key " + prefix + "schema",
          prefix.endsWith(":inbox:") ? SchemaVersion.MIGRATE_INBOX : SchemaVersion.MIGRATE,
          null);
    }
    boolean newer = found.length() > VERSION.length() || found.compareTo(VERSION) > 0;
    return new SchemaException(
        newer
            ? "the keys %s* have version %s, this library knows only %s: use a newer release of the library"
                .formatted(prefix, found, VERSION)
            : "the keys %s* have version %s, this library needs %s: empty that outbox with the release that made it, and remove them"
                .formatted(prefix, found, VERSION));
  }
}
