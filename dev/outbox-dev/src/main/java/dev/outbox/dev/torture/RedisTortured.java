package dev.outbox.dev.torture;

import dev.outbox.TransientOutboxException;
import dev.outbox.dev.torture.Oracle.Committed;
import dev.outbox.dev.torture.Oracle.DeadLetter;
import dev.outbox.embedded.EmbeddedRedis;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
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
  static final String NAME = "redis";

  /** Lists: "WAY MESSAGE"; "ID KEY NTH KIND DEDUP"; dedup keys. */
  static final String EFFECTS = "{redis}:torture:effects";

  static final String COMMITTED = "{redis}:torture:committed";
  static final String REFUSED = "{redis}:torture:refused";

  private static final String OUTBOX = "{redis}:outbox:";

  /** Its argument says whether those count that are dead for good. */
  private static final String MESSAGES =
      """
      local found = {}
      for _, name in ipairs(redis.call('KEYS', KEYS[1] .. 'message:*')) do
        local seq = string.match(name, '%d+$')
        local id, key, kind, failed = unpack(redis.call('HMGET', name, 'id', 'key', 'eventType', 'error'))
        local dead = redis.call('ZSCORE', KEYS[1] .. 'dead', seq)
        if ARGV[1] == 'dead' and dead
            or ARGV[1] == 'waiting' and not (dead and (kind == 'DOOMED' or kind == 'TOO_LARGE')) then
          found[#found + 1] = seq .. ' ' .. tostring(id) .. ' ' .. tostring(key) .. ' ' .. tostring(kind)
            .. ' ' .. tostring(failed)
        end
      end
      return found
      """;

  /** A message is where somebody finds it, and so is a key with messages. */
  private static final String WRONG =
      """
      local P = KEYS[1]
      local found = {}
      local failed, halting = {}, {}
      local function check(good, what)
        if not good then
          found[#found + 1] = what
        end
      end
      for _, name in ipairs(redis.call('KEYS', P .. 'message:*')) do
        local seq = string.match(name, '%d+$')
        local key, fails, halts = unpack(redis.call('HMGET', name, 'key', 'failed', 'halts'))
        local places = 0
        for _, zset in ipairs({'order:' .. tostring(key), 'delayed', 'dead'}) do
          if redis.call('ZSCORE', P .. zset, seq) then
            places = places + 1
          end
        end
        check(places == 1, 'message ' .. seq .. ' of ' .. tostring(key) .. ' is in ' .. places .. ' places')
        if key and fails then
          failed[key] = (failed[key] or 0) + 1
        end
        if key and halts then
          halting[key] = (halting[key] or 0) + 1
        end
      end
      for _, name in ipairs(redis.call('KEYS', P .. 'order:*')) do
        local key = string.sub(name, #P + #'order:' + 1)
        local leased = redis.call('ZSCORE', P .. 'leases', key)
        local there = redis.call('ZSCORE', P .. 'ready', key) or redis.call('ZSCORE', P .. 'retries', key)
        local halted = redis.call('ZSCORE', P .. 'halted', key)
        check(leased or there or halted, 'key ' .. key .. ' has messages, and nobody finds it')
        check(not (leased and there), 'key ' .. key .. ' is held, and free to be claimed')
        check(not (halted and there), 'key ' .. key .. ' is halted, and free to be claimed')
        for _, seq in ipairs(redis.call('ZRANGE', name, 0, -1)) do
          check(redis.call('EXISTS', P .. 'message:' .. seq) == 1, 'message ' .. seq .. ' of ' .. key .. ' is gone')
        end
      end
      for _, key in ipairs(redis.call('ZRANGE', P .. 'blocked', 0, -1)) do
        check(failed[key], 'key ' .. key .. ' is blocked, and none of its messages has failed')
      end
      for key, number in pairs(failed) do
        local counted = tonumber(redis.call('HGET', P .. 'key:' .. key, 'failed')) or 0
        check(counted == number, number .. ' messages of ' .. key .. ' have failed, and ' .. counted .. ' are counted')
      end
      for _, key in ipairs(redis.call('ZRANGE', P .. 'halted', 0, -1)) do
        local counted = tonumber(redis.call('ZSCORE', P .. 'halted', key))
        check(halting[key] == counted, 'key ' .. key .. ' is halted by ' .. counted .. ' dead letters, of which '
          .. (halting[key] or 0) .. ' are there')
      end
      return found
      """;

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

  /** Of a key: the number of its last message. */
  static String last(String key) {
    return "{redis}:torture:last:" + key;
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

  private List<String> run(String script, String... arguments) {
    Object found = ask(redis -> redis.eval(script, List.of(OUTBOX), List.of(arguments)));
    return ((List<?>) found).stream().map(String::valueOf).toList();
  }

  @Override
  public long waiting() {
    return run(MESSAGES, "waiting").size();
  }

  @Override
  public String firstWaiting() {
    return run(MESSAGES, "waiting").stream().limit(SHOWN).toList().toString();
  }

  @Override
  public List<String> wrong() {
    return run(WRONG);
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
    return list(COMMITTED).stream()
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
    return list(REFUSED).stream().collect(Collectors.toSet());
  }

  @Override
  public List<DeadLetter> deadLetters() {
    return run(MESSAGES, "dead").stream()
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
