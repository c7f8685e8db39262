package dev.outbox.dev.database;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.TransientOutboxException;
import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.database.Place.Session;
import dev.outbox.dev.database.Work.Committed;
import dev.outbox.store.redis.RedisInboxStore;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
import dev.outbox.store.redis.RedisUrl;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A Redis. Effects, and what producers write, are in lists beside the outbox. An oracle asks by
 * scripts, so that each looks at one moment.
 */
public final class RedisPlace implements Tortured<RedisTransaction> {
  private static final String NAME = "redis";
  private static final String OUTBOX = "{redis}:outbox:";

  /** Lists: "WAY MESSAGE"; "ID KEY NTH KIND DEDUP"; dedup keys. */
  private static final String EFFECTS = "{redis}:torture:effects";

  private static final String COMMITTED = "{redis}:torture:committed";
  private static final String REFUSED = "{redis}:torture:refused";
  private static final int SHOWN = 5;

  private final int size;
  private final RedisClient client;
  private final RedisOutboxStore store;

  public RedisPlace(String url, int size) {
    this.size = 2 * size; // a transaction reads beside itself
    client = RedisUrl.of(url).client(this.size);
    store = RedisOutboxStore.of(client, NAME);
  }

  /** Of a key: the number of its last message. */
  private static String lastOf(String key) {
    return "{redis}:torture:last:" + key;
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
    try {
      return question.apply(client);
    } catch (JedisException e) {
      throw new TransientOutboxException(String.valueOf(e.getMessage()), e);
    }
  }

  private record InTransaction(RedisTransaction transaction) implements Session<RedisTransaction> {
    @Override
    public RedisTransaction begin() {
      return transaction;
    }

    /** Where one of our own commands fails, what was committed cannot be judged. */
    @Override
    public void commit() {
      for (Object reply : transaction.exec()) {
        if (reply instanceof JedisDataException e) {
          throw new IllegalStateException("a command failed inside of EXEC", e);
        }
      }
    }

    @Override
    public void close() {
      transaction.close();
    }
  }

  /** For one transaction. */
  @Override
  public Session<RedisTransaction> session() {
    return new InTransaction(RedisTransaction.begin(client));
  }

  @Override
  public void effect(RedisTransaction transaction, Enum<?> way, UUID message) {
    var unused = transaction.rpush(EFFECTS, way + " " + message);
  }

  @Override
  public List<Effect> effects() {
    return list(EFFECTS).stream()
        .map(line -> line.split(" "))
        .map(part -> new Effect(part[0], part[1]))
        .toList();
  }

  private List<String> list(String key) {
    return ask(redis -> redis.lrange(key, 0, -1));
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
  public void appended(RedisTransaction transaction, Work work, @Nullable String dedup) {
    var unused =
        transaction.rpush(
            COMMITTED,
            "%s %s %d %s %s"
                .formatted(
                    work.id(), work.key(), work.nth(), work.kind(), dedup == null ? "" : dedup));
  }

  @Override
  public void refused(RedisTransaction transaction, UUID id, String dedup) {
    var unused = transaction.rpush(REFUSED, dedup);
  }

  @Override
  public void exhaust(long millis) {
    Exhaustion.begin(size, client.getPool()::getResource, millis);
  }

  /** Runs one of the scripts that are beside this class. */
  private List<String> run(String name, String... arguments) {
    String script;
    try (InputStream in =
        requireNonNull(RedisPlace.class.getResourceAsStream("redis.%s.lua".formatted(name)))) {
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

  @Override
  public List<Committed> committed() {
    return list(COMMITTED).stream()
        .map(line -> line.split(" ", 5))
        .map(
            part ->
                new Committed(
                    new Work(
                        UUID.fromString(part[0]),
                        part[1],
                        Integer.parseInt(part[2]),
                        Work.Kind.valueOf(part[3])),
                    part[4].isEmpty() ? null : part[4]))
        .toList();
  }

  @Override
  public Set<String> refused() {
    return Set.copyOf(list(REFUSED));
  }

  @Override
  public void close() {
    client.close();
  }
}
