package dev.outbox.dev.torture;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.store.redis.RedisInboxStore;
import dev.outbox.store.redis.RedisOutboxStore;
import dev.outbox.store.redis.RedisTransaction;
import dev.outbox.store.redis.RedisUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Redis, as a process uses it. Effects, and what producers write, are in lists beside the outbox.
 */
final class RedisPlace implements Place<RedisTransaction> {
  static final String NAME = "redis";

  /** Lists: "WAY MESSAGE"; "ID KEY NTH KIND DEDUP"; dedup keys. */
  static final String EFFECTS = "{redis}:torture:effects";

  static final String COMMITTED = "{redis}:torture:committed";
  static final String REFUSED = "{redis}:torture:refused";

  private final int size;
  private final RedisClient client;
  private final RedisOutboxStore store;

  RedisPlace(String url, int size) {
    this.size = 2 * size; // a transaction reads beside itself
    client = RedisUrl.of(url).client(this.size);
    store = RedisOutboxStore.of(client, NAME);
  }

  /** Of a key: the number of its last message. */
  static String lastOf(String key) {
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

  /** For questions beside what it is. */
  RedisClient client() {
    return client;
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

  @Override
  public boolean run(Doing<RedisTransaction> doing) {
    try (RedisTransaction transaction = RedisTransaction.begin(client)) {
      boolean good = doing.in(transaction);
      if (good) {
        commit(transaction);
      }
      return good;
    }
  }

  /** Where one of our own commands fails, what was committed cannot be judged. */
  private static void commit(RedisTransaction transaction) {
    for (Object reply : transaction.exec()) {
      if (reply instanceof JedisDataException e) {
        throw new IllegalStateException("a command failed inside of EXEC", e);
      }
    }
  }

  @Override
  public void effect(RedisTransaction transaction, Enum<?> way, UUID message) {
    var unused = transaction.rpush(EFFECTS, way + " " + message);
  }

  @Override
  public List<Effect> effects() {
    return read(() -> client.lrange(EFFECTS, 0, -1)).stream()
        .map(line -> line.split(" "))
        .map(part -> new Effect(part[0], part[1]))
        .toList();
  }

  @Override
  public boolean canCommitLater() {
    return false;
  }

  @Override
  public Business begin(Appending<RedisTransaction> appending) {
    return new InTransaction(RedisTransaction.begin(client), appending);
  }

  private static <R> R read(Supplier<R> read) {
    try {
      return read.get();
    } catch (JedisException e) {
      throw new TransientOutboxException(String.valueOf(e.getMessage()), e);
    }
  }

  private final class InTransaction implements Business {
    private final RedisTransaction transaction;
    private final Appending<RedisTransaction> appending;
    private final List<Uncommitted> appended = new ArrayList<>();

    InTransaction(RedisTransaction transaction, Appending<RedisTransaction> appending) {
      this.transaction = transaction;
      this.appending = appending;
    }

    @Override
    public void commitLater() {
      throw new UnsupportedOperationException();
    }

    /** Whoever commits first has it: the other's EXEC does nothing. */
    @Override
    public int lock(String key) {
      return read(
          () -> {
            String unused = transaction.watch(lastOf(key));
            String last = client.get(lastOf(key));
            return last == null ? 0 : Integer.parseInt(last);
          });
    }

    @Override
    public Set<UUID> append(List<OutboxMessage> messages) {
      Uncommitted uncommitted = appending.append(transaction, messages);
      appended.add(uncommitted);
      return uncommitted.appended().duplicates();
    }

    /** A MULTI is taken back as a whole. */
    @Override
    public void appendInVain(List<OutboxMessage> messages) {}

    /** There is no other way than the script that the store runs. */
    @Override
    public void appendPlain(OutboxMessage message, int stallMillis) {
      var unused = store.append(transaction, message);
    }

    @Override
    public void appended(Work work, @Nullable String dedup) {
      var unused =
          transaction.rpush(
              COMMITTED,
              "%s %s %d %s %s"
                  .formatted(
                      work.id(), work.key(), work.nth(), work.kind(), dedup == null ? "" : dedup));
    }

    @Override
    public void refused(UUID id, String dedup) {
      var unused = transaction.rpush(REFUSED, dedup);
    }

    @Override
    public void last(String key, int number) {
      var unused = transaction.set(lastOf(key), Integer.toString(number));
    }

    @Override
    public void commit() {
      RedisPlace.commit(transaction);
      appended.forEach(Uncommitted::committed);
    }

    @Override
    public void close() {
      transaction.close();
    }
  }

  @Override
  public void exhaust(long millis) {
    Exhaustion.begin(size, client.getPool()::getResource, millis);
  }

  @Override
  public void close() {
    client.close();
  }
}
