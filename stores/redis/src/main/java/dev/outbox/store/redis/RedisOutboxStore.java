package dev.outbox.store.redis;

import static java.util.stream.Collectors.toSet;

import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.internal.Deduplicated;
import dev.outbox.store.redis.Messages.Found;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;

/**
 * The outbox on Redis 7.0 and newer: one server, or the primary of some. Meant for applications
 * whose data are in that Redis, too. What its promises end at is said in {@code docs/redis.md}.
 *
 * <p>The keys, which all have one hash tag. Times are microseconds of the server's clock.
 *
 * <pre>{@code
 * {shop}:outbox:schema        1
 * {shop}:outbox:sequence      17                                  the last one given
 * {shop}:outbox:message:17    hash: id, aggregateType, aggregateId, eventType, payload, key,
 *                             createdAt, and where given contentType, partitionKey, headers,
 *                             dedupKey, correlationId, availableAt, expiresAt, maxAttempts; when
 *                             it failed
 *                             attempts, failed, due, error, failedAt, halts
 * {shop}:outbox:messages      zset: all messages by sequence, for people
 * {shop}:outbox:order:K       zset: the messages of key K by sequence, without delayed and dead ones
 * {shop}:outbox:key:K         hash: holder, lease, expired (leases in a row), failed (messages)
 * {shop}:outbox:ready         zset: keys to be claimed, by turn
 * {shop}:outbox:leases        zset: keys that are held, by the end of the lease
 * {shop}:outbox:retries       zset: keys whose first message waits, by when it is due
 * {shop}:outbox:delayed       zset: messages by when they are due
 * {shop}:outbox:dead          zset: dead letters
 * {shop}:outbox:blocked       zset: keys with a message that failed
 * {shop}:outbox:halted        zset: keys that dead letters halt
 * {shop}:outbox:halting       zset: dead letters that halt their keys
 * {shop}:outbox:pauses        hash: what is paused, an aggregate type or nothing for all
 * {shop}:outbox:turn          counter
 * {shop}:outbox:dedup:D       "appended", or the token of an open transaction; with a time to live
 * }</pre>
 *
 * <p>Each step is one script of Lua, and so happens alone.
 *
 * <ol>
 *   <li><b>append</b> is queued in the caller's {@link RedisTransaction}. EXEC gives the sequences:
 *       so their order is that of the commits, and no message comes late. Dedup keys are held from
 *       the append on.
 *   <li><b>claim</b> first gives what was waiting for a time its turn: delayed messages, keys whose
 *       retry is due, keys whose lease ran out. Then it takes the keys that have had their turn for
 *       longest (C6), and of each what may be delivered, from the oldest on.
 *   <li><b>settle</b> changes only keys that have the claim's token (S1), and gives them back.
 *   <li>After three leases of a key in a row that ran out, its first message comes alone, and its
 *       attempt counts at the claim (S6).
 * </ol>
 *
 * <p>A claim returns when the server has written all that it read to its disk, and with {@link
 * Builder#replicas} when replicas have it, too: nothing is published that is not so durable.
 */
public final class RedisOutboxStore extends RedisStore
    implements OutboxStore<RedisTransaction>,
        DeadLetterStore,
        InspectionStore,
        PauseStore,
        StatisticsStore {

  /** How long a dedup key is remembered unless told otherwise: 7 days. */
  public static final Duration DEFAULT_DEDUP_WINDOW = Duration.ofDays(7);

  static final Script APPEND = script("append");
  private static final Script HOLD_DEDUP_KEYS = script("hold_dedup_keys");
  private static final Script CLAIM = script("claim");
  private static final Script DEAD_LETTERS = script("dead_letters");
  private static final Script REQUEUE = script("requeue");
  private static final Script DISCARD = script("discard");
  private static final Script CANCEL = script("cancel");
  private static final Script PAUSE = script("pause");
  private static final Script RESUME = script("resume");
  private static final Script PAUSES = script("pauses");
  private static final Script STATISTICS = script("statistics");

  private static final int PERCENT = 100;

  /** Of the memory: from here on there is a warning. */
  private static final int MUCH = 75;

  private final Duration dedupWindow;
  private final RedisInspection inspection;

  private RedisOutboxStore(Server server, Duration dedupWindow) {
    super(server);
    inspection = new RedisInspection(server);
    this.dedupWindow = dedupWindow;
  }

  private static Script script(String name) {
    return Script.in("outbox", name);
  }

  /** A store with the default settings, for relays and for appending. */
  public static RedisOutboxStore of(RedisClient client, String name) {
    return builder(client, name).build();
  }

  /**
   * Starts with the defaults that each setter names.
   *
   * @param client has a pool with a connection for each thread that uses the store at once
   * @param name the hash tag: all keys begin with <code>{name}:outbox:</code>. In a cluster a
   *     transaction can change only keys with the same tag
   */
  public static Builder builder(RedisClient client, String name) {
    return new Builder(client, name);
  }

  /**
   * {@inheritDoc}
   *
   * <p>It is in the transaction's list of commands then, and EXEC carries it out. A dedup key that
   * another open transaction has appended makes this fail at once with a {@code
   * TransientOutboxException}: Redis lets no transaction wait for another.
   *
   * @return without sequences, which EXEC gives
   */
  @Override
  public Appended append(RedisTransaction transaction, List<OutboxMessage> messages) {
    transaction.join(server);
    Deduplicated deduplicated =
        Deduplicated.of(messages, holdDedupKeys(transaction, Deduplicated.keys(messages)));
    if (!deduplicated.fresh().isEmpty()) {
      Arguments arguments = Server.arguments().addMillis(dedupWindow);
      deduplicated.fresh().forEach(message -> Messages.add(arguments, message));
      transaction.queue(APPEND, server, arguments);
    }
    return Appended.of(messages, deduplicated.duplicates());
  }

  /** Those that nobody has appended within the window; from now on they are this transaction's. */
  private Set<String> holdDedupKeys(RedisTransaction transaction, Set<String> keys) {
    Set<String> fresh = new LinkedHashSet<>();
    if (keys.isEmpty()) {
      return fresh;
    }
    Arguments arguments =
        Server.arguments().add(transaction.token()).addMillis(transaction.longest()).addAll(keys);
    Reply reply = Reply.of(transaction.ask(HOLD_DEDUP_KEYS, server, arguments));
    int i = 0;
    for (String key : keys) {
      long answer = reply.number(i++);
      if (answer < 0) {
        throw transaction.runAgain("another open transaction has appended one of its dedup keys");
      }
      if (answer == 1) {
        fresh.add(key);
      }
    }
    Set<String> held = new LinkedHashSet<>();
    fresh.forEach(key -> held.add(server.prefix() + "dedup:" + key));
    transaction.watchHeld(held, server.prefix());
    return fresh;
  }

  @Override
  public Claim claim(Claim.Request request) {
    String token = UUID.randomUUID().toString();
    Arguments arguments =
        Server.arguments()
            .add(token)
            .add(request.maxMessages())
            .add(request.maxBytes())
            .addMicros(request.lease());
    Server.Done done = server.runVerified(CLAIM, arguments);
    Reply reply = Reply.of(done.reply());
    Instant now = Messages.instant(reply.number(2));
    List<Found> found = reply.list(1).lists().map(one -> Messages.read(one).at(now)).toList();
    Claim claim = new RedisClaim(server, token, reply.number(0) == 1, found);
    if (done.lacking() != null) {
      // At once: a lease that runs out looks like a relay that crashed (S6).
      Set<Long> none = claim.settle(Map.of());
    }
    Object unused = done.orThrow();
    return claim;
  }

  // ---- what people ask

  @Override
  public List<DeadLetter> deadLetters(long afterSequence, int limit) {
    Arguments arguments = Server.arguments().add(afterSequence).add(ArchiveStore.checked(limit));
    return Reply.of(server.run(DEAD_LETTERS, arguments))
        .lists()
        .map(Messages::read)
        .map(
            one ->
                new DeadLetter(
                    one.message(),
                    one.fields().text("error"),
                    one.fields().time("failedAt"),
                    one.fields().text("halts") != null))
        .toList();
  }

  @Override
  public Set<Long> requeue(Set<Long> sequences, @Nullable Who by) {
    return decide(REQUEUE, sequences, by);
  }

  @Override
  public Set<Long> discard(Set<Long> sequences, @Nullable Who by) {
    return decide(DISCARD, sequences, by);
  }

  @Override
  public Set<Long> cancel(Set<Long> sequences, @Nullable Who by) {
    return decide(CANCEL, sequences, by);
  }

  private Set<Long> decide(Script script, Set<Long> sequences, @Nullable Who by) {
    ArchiveStore.requireAudit(by, Archive.NONE);
    Arguments arguments = Server.arguments();
    sequences.forEach(arguments::add);
    Reply reply = Reply.of(server.run(script, arguments));
    return IntStream.range(0, reply.size())
        .mapToObj(i -> Long.valueOf(reply.text(i)))
        .collect(toSet());
  }

  @Override
  public void pause(@Nullable String aggregateType, ArchiveStore.Who by) {
    Arguments arguments = Server.arguments().add(PauseStore.name(aggregateType)).add(by.name());
    if (by.reason() != null) {
      arguments.add(by.reason());
    }
    Object ignored = server.run(PAUSE, arguments);
  }

  @Override
  public boolean resume(@Nullable String aggregateType, ArchiveStore.Who by) {
    Arguments arguments = Server.arguments().add(PauseStore.name(aggregateType));
    return Long.valueOf(1).equals(server.run(RESUME, arguments));
  }

  @Override
  public List<Pause> pauses() {
    return Reply.of(server.run(PAUSES, Server.arguments()))
        .lists()
        .map(
            one ->
                new Pause(
                    PauseStore.typeOf(one.text(0)),
                    Messages.instant(Long.parseLong(one.text(1))),
                    one.text(2),
                    one.textOrNull(3)))
        .toList();
  }

  @Override
  public Page<Listed> messages(Query query) {
    return inspection.messages(query);
  }

  @Override
  public Optional<Inspected> message(long sequence) {
    return inspection.message(sequence);
  }

  @Override
  public Page<WaitingKey> waitingKeys(boolean halted, @Nullable String after, int limit) {
    return inspection.waitingKeys(halted, after, ArchiveStore.checked(limit));
  }

  @Override
  public OptionalInt maxConnections() {
    return server.maxConnections();
  }

  /**
   * {@inheritDoc}
   *
   * <p>The ages are those of the keys that are next, and of as many as make the cap. One script
   * counts, while nobody else is served, so it looks at {@code 2 × cap + 1000} keys and messages at
   * most for what is free, and for what is blocked. Pending, blocked and blocked keys may be too
   * low where it meets more than {@code cap + 1000} that add nothing. Those are keys whose first
   * message has failed and is due again, halted keys, and messages in front of one that failed.
   */
  @Override
  public Statistics statistics(int cap) {
    Arguments arguments = Server.arguments().add(StatisticsStore.checked(cap));
    Reply reply = Reply.of(server.run(STATISTICS, arguments));
    return new Statistics(
        cap,
        reply.number(0),
        reply.number(1),
        reply.number(2),
        reply.number(3),
        reply.number(4),
        reply.number(5),
        age(reply.number(6)),
        age(reply.number(7)),
        null);
  }

  private static @Nullable Duration age(long micros) {
    return micros < 0 ? null : Duration.of(micros, ChronoUnit.MICROS);
  }

  @Override
  public List<Finding> findings() {
    Map<String, String> memory = server.on(Schema::info);
    long used = Long.parseLong(memory.getOrDefault("used_memory", "0"));
    long most = Long.parseLong(memory.getOrDefault("maxmemory", "0"));
    return List.of(
        most > 0 && used * PERCENT >= most * MUCH
            ? Finding.warning(
                "memory",
                "Redis uses %s of %s bytes of memory, and when it is full every append is refused"
                    .formatted(used, most),
                "deliver what waits, or give it more (config set maxmemory)")
            : Finding.fine("memory", "%s bytes used".formatted(used)));
  }

  /** Not safe for use by many threads. */
  public static final class Builder extends RedisStore.Builder<Builder> {
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;

    private Builder(RedisClient client, String name) {
      super(client, name);
    }

    /** How long a dedup key is remembered, from 1 ms to ten years. Default: 7 days. */
    public Builder dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return this;
    }

    /**
     * Does not connect yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public RedisOutboxStore build() {
      if (dedupWindow.compareTo(Duration.ofMillis(1)) < 0
          || dedupWindow.compareTo(OutboxMessage.MAX_DELAY) > 0) {
        throw new IllegalArgumentException(
            "dedupWindow is %s, allowed is from 1 ms to %s"
                .formatted(Texts.time(dedupWindow), Texts.time(OutboxMessage.MAX_DELAY)));
      }
      return new RedisOutboxStore(server("outbox"), dedupWindow);
    }
  }
}
