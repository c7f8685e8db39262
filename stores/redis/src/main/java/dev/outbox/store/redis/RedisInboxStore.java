package dev.outbox.store.redis;

import dev.outbox.Texts;
import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.Inbox.InProgressException;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.internal.InboxLock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;

/**
 * The inbox on Redis 7.0 and newer: one server, or the primary of some. What its promises end at is
 * said in {@code docs/redis.md}.
 *
 * <p>The keys, which all have one hash tag. An entry's NAME is the consumer and the message's id
 * with a colon between them. Times are microseconds of the server's clock.
 *
 * <pre>{@code
 * {shop}:inbox:schema        1
 * {shop}:inbox:message:NAME  hash: state (started, failed, done), token, until, attempts, and where
 *                            given fingerprint, result, contentType, error
 * {shop}:inbox:hold:NAME     the token of an open transaction that will make it done; lives 30 s
 * {shop}:inbox:locks         zset: what is started, by the end of its lock
 * {shop}:inbox:failed        zset: what was released
 * {shop}:inbox:expires       zset: everything, by when it may be forgotten
 * }</pre>
 *
 * <p>Each step is one script of Lua, and so happens alone.
 *
 * <ol>
 *   <li><b>firstTime</b> asks before MULTI, and <em>holds</em> what is free; a script that EXEC
 *       runs makes it done. {@link RedisTransaction} WATCHes the hold, so EXEC does nothing where
 *       another has taken over. Whoever meets a hold is told: another transaction to run again,
 *       {@code begin} that it is in progress.
 *   <li><b>begin</b> looks and locks in one script. A lock that ran out or was released is taken
 *       over, with another token.
 *   <li>What a <b>lock</b> does changes only an entry that has its token and is not held.
 * </ol>
 */
public final class RedisInboxStore extends RedisStore implements InboxStore<RedisTransaction> {
  private static final Script BEGIN = script("begin");
  private static final Script HOLD = script("hold");
  private static final Script RECORD = script("record");
  private static final Script RENEW = script("renew");
  private static final Script COMPLETE = script("complete");
  private static final Script RELEASE = script("release");
  private static final Script FORGET = script("forget");
  private static final Script STATISTICS = script("statistics");

  /** Of a purge, so that nobody waits for long. */
  private static final int STEP = 500;

  private final Duration retention;

  private RedisInboxStore(Server server, Duration retention) {
    super(server);
    this.retention = InboxStore.checkedRetention(retention);
  }

  private static Script script(String name) {
    return Script.in("inbox", name);
  }

  /** An inbox with the default settings. */
  public static RedisInboxStore of(RedisClient client, String name) {
    return builder(client, name).build();
  }

  /**
   * Starts with the defaults that each setter names.
   *
   * @param client has a pool with a connection for each thread that uses the inbox at once
   * @param name the hash tag: all keys begin with <code>{name}:inbox:</code>. In a cluster a
   *     transaction can change only keys with the same tag
   */
  public static Builder builder(RedisClient client, String name) {
    return new Builder(client, name);
  }

  /** What stands for a key in the names of Redis' keys: no two have the same. */
  private static String name(InboxKey key) {
    return key.consumer().replace("%", "%25").replace(":", "%3A") + ':' + key.messageId();
  }

  private static Arguments arguments(InboxKey key) {
    return Server.arguments().add(name(key));
  }

  // ---- one transaction

  /**
   * {@inheritDoc}
   *
   * <p>Beside another open transaction with the same key it fails at once with a {@code
   * TransientOutboxException}: Redis lets no transaction wait for another. The transaction must end
   * within {@link RedisTransaction#LONGEST}.
   */
  @Override
  public boolean firstTime(RedisTransaction transaction, InboxKey key) {
    transaction.join(server);
    if (transaction.completedBy(entry(key)) != null) {
      return false;
    }
    Reply reply = hold(transaction, key, "");
    switch (reply.text(0)) {
      case "held" -> {
        Arguments record = arguments(key).add(transaction.token()).addMicros(retention);
        transaction.queue(RECORD, server, record);
        transaction.completes(entry(key), transaction.token());
        return true;
      }
      case "in_progress" -> throw new InProgressException(key, left(reply.number(1)));
      default -> {
        return false;
      }
    }
  }

  /** Of all inboxes that a transaction may join. */
  private String entry(InboxKey key) {
    return server.prefix() + name(key);
  }

  private Reply hold(RedisTransaction transaction, InboxKey key, String lock) {
    Arguments arguments =
        arguments(key).add(transaction.token()).addMillis(transaction.longest()).add(lock);
    Reply reply = Reply.of(transaction.ask(HOLD, server, arguments));
    if (reply.text(0).equals("busy")) {
      throw transaction.runAgain("another open transaction is handling %s".formatted(key));
    }
    if (reply.text(0).equals("held")) {
      transaction.watchHeld(Set.of(server.prefix() + "hold:" + name(key)), server.prefix());
    }
    return reply;
  }

  // ---- locks

  @Override
  public Begin<RedisTransaction> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
    Duration checked = InboxStore.checkedLock(lock);
    String token = UUID.randomUUID().toString();
    Arguments arguments =
        arguments(key).add(token).addMicros(checked).addMicros(retention).add(fingerprint.bytes());
    Server.Done done = server.runVerified(BEGIN, arguments);
    Reply reply = Reply.of(done.reply());
    if (done.lacking() != null && reply.text(0).equals("started")) {
      // At once: nobody has the lock, and all others would wait for its end.
      Object ignored = server.run(RELEASE, released(key, token, "too few replicas had the lock"));
    }
    Object unused = done.orThrow();
    return switch (reply.text(0)) {
      case "started" ->
          new Begin.Started<>(new RedisLock(key, token, Math.toIntExact(reply.number(1))));
      case "in_progress" -> new Begin.InProgress<>(left(reply.number(1)));
      case "done" -> new Begin.Done<>(result(reply.bytes(1), reply.textOrNull(2)));
      default -> new Begin.Mismatch<>();
    };
  }

  private Arguments released(InboxKey key, String token, String error) {
    return arguments(key).add(token).addMicros(retention).add(error);
  }

  private static Duration left(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS);
  }

  private static InboxResult result(byte @Nullable [] content, @Nullable String contentType) {
    return InboxResult.of(content == null ? new byte[0] : content, contentType);
  }

  /** Says what came of a script that a lock ran. */
  private static boolean did(Object reply, InboxKey key) {
    long said = (Long) reply;
    if (said < 0) {
      throw new TransientOutboxException(
          "an open transaction is handling %s: try again".formatted(key));
    }
    return said == 1;
  }

  private final class RedisLock extends InboxLock<RedisTransaction> {
    private final String token;

    RedisLock(InboxKey key, String token, int attempts) {
      super(key, attempts);
      this.token = token;
    }

    @Override
    public boolean renew(Duration lock) {
      Arguments arguments =
          arguments(key).add(token).addMicros(InboxStore.checkedLock(lock)).addMicros(retention);
      return did(server.runReplicated(RENEW, arguments).orThrow(), key);
    }

    @Override
    public boolean complete(InboxResult result) {
      return did(server.runReplicated(COMPLETE, completion("", result)).orThrow(), key);
    }

    private Arguments completion(String transaction, InboxResult result) {
      String contentType = result.contentType();
      return arguments(key)
          .add(token)
          .add(transaction)
          .addMicros(retention)
          .add(result.content())
          .add(contentType == null ? "" : contentType);
    }

    @Override
    public boolean complete(RedisTransaction transaction, InboxResult result) {
      transaction.join(server);
      String by = transaction.completedBy(entry(key));
      if (by != null) {
        return by.equals(token);
      }
      Reply reply = hold(transaction, key, token);
      if (reply.text(0).equals("held")) {
        transaction.queue(COMPLETE, server, completion(transaction.token(), result));
        transaction.completes(entry(key), token);
      }
      return !reply.text(0).equals("lost");
    }

    @Override
    public boolean release(String error) {
      return did(server.run(RELEASE, released(key, token, Texts.clean(error))), key);
    }
  }

  // ---- housekeeping

  @Override
  public void housekeep() {
    long stay = 0;
    Reply reply;
    do {
      reply = Reply.of(server.run(FORGET, Server.arguments().add(stay).add(STEP)));
      stay += reply.number(1);
    } while (reply.number(0) == STEP && !Thread.currentThread().isInterrupted());
  }

  @Override
  public InboxStatistics statistics(int cap) {
    int most = StatisticsStore.checked(cap);
    Reply reply = Reply.of(server.run(STATISTICS, Server.arguments()));
    return new InboxStatistics(
        cap,
        Math.min(most, reply.number(0)),
        Math.min(most, reply.number(1)),
        Math.min(most, reply.number(2)));
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends RedisStore.Builder<Builder> {
    private Duration retention = DEFAULT_RETENTION;

    private Builder(RedisClient client, String name) {
      super(client, name);
    }

    /**
     * How long a key is remembered after it was done, from 1 ms to ten years (I8). Default: 7 days.
     */
    public Builder retention(Duration retention) {
      this.retention = retention;
      return this;
    }

    /**
     * Does not connect yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public RedisInboxStore build() {
      return new RedisInboxStore(server("inbox"), retention);
    }
  }
}
