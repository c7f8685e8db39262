package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.CommandObjects;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A transaction of Jedis that the outbox and the inbox can join: all commands are kept here until
 * {@link #exec}, which sends them with MULTI and EXEC in one round trip. Until then the server can
 * still be asked, so that an append finds out about duplicates, and {@code firstTime} about what
 * was done.
 *
 * <pre>{@code
 * try (RedisTransaction transaction = RedisTransaction.begin(client)) {
 *   transaction.hset("{shop}:order:1", "state", "PAID");
 *   outbox.append(transaction, message);
 *   transaction.exec();
 * }
 * }</pre>
 *
 * <p>How it knows. What an answer depends on, a dedup key or an entry of the inbox, is
 * <em>held</em>: a key with this transaction's token, which lasts for {@link #LONGEST}, and which
 * this connection WATCHes. Others that meet it are told to run again. If it runs out, or somebody
 * else changes what is watched, EXEC does nothing.
 *
 * <p>Redis does not undo: when one command fails inside of EXEC, as one for a key of another type,
 * the others have been carried out. {@link #exec} throws when a command of the outbox has failed.
 * For a command of the caller the error is in the list, as always with Jedis.
 *
 * <p>Used by one thread at a time.
 */
public final class RedisTransaction extends AbstractTransaction {

  /** How long a transaction with dedup keys, or with an inbox, may be open: 30 s. */
  public static final Duration LONGEST = Duration.ofSeconds(30);

  private static final Script GUARD = Script.alone("guard");
  private static final Script RELEASE_HOLDS = Script.alone("release_holds");

  private final Connection connection;
  private final String token = UUID.randomUUID().toString();
  private final List<Queued<?>> queue = new ArrayList<>();
  private final Set<Server> joined = new LinkedHashSet<>();
  private final Set<String> held = new LinkedHashSet<>();
  private final Map<String, String> completed = new HashMap<>();
  private final Duration longest;
  private boolean active = true;
  private boolean mustRunAgain;
  private boolean closed;

  /**
   * @param prefix of the store whose command it is; null: it is the caller's
   */
  private record Queued<R>(
      CommandObject<R> command, Response<R> response, @Nullable String prefix) {

    /** What it returned, or its error. */
    Object set(@Nullable Object reply) {
      response.set(reply);
      try {
        return response.get();
      } catch (JedisDataException e) {
        return e;
      }
    }

    /** Null: it is done, or the caller's. */
    @Nullable OutboxException failure(Object result) {
      return prefix != null && result instanceof JedisDataException e
          ? failedInside(e, prefix)
          : null;
    }
  }

  private RedisTransaction(Connection connection, Duration longest) {
    super(new CommandObjects(RedisProtocol.orServerDefault(connection.getRedisProtocol())));
    this.connection = connection;
    this.longest = longest;
  }

  /**
   * Begins one, on a connection of its own until it is closed.
   *
   * @throws TransientOutboxException when there is no connection
   */
  public static RedisTransaction begin(RedisClient client) {
    return begin(client, LONGEST);
  }

  /** For tests: with another time than {@link #LONGEST}. */
  static RedisTransaction begin(RedisClient client, Duration longest) {
    try {
      return new RedisTransaction(client.getPool().getResource(), longest);
    } catch (JedisException e) {
      throw Errors.translate(e, "");
    }
  }

  // ---- for stores

  /** By which what this transaction holds is known. */
  String token() {
    return token;
  }

  /** How long what is held lasts. */
  Duration longest() {
    return longest;
  }

  void requireActive() {
    if (!active) {
      throw new NoTransactionException(
          "the transaction has ended: begin another with RedisTransaction.begin(…)");
    }
  }

  /** To be joined by a store. On this connection: whoever waited for a second one could starve. */
  void join(Server server) {
    requireActive();
    try {
      server.schema().verifyOnce(connection);
      joined.add(server);
    } catch (JedisException e) {
      throw Errors.translate(e, server.prefix(), connection);
    }
  }

  /** Runs a script at once, before MULTI. */
  Object ask(Script script, Server server, Arguments arguments) {
    try {
      return script.run(connection, server.keys(), arguments.list());
    } catch (JedisException e) {
      throw Errors.translate(e, server.prefix(), connection);
    }
  }

  /**
   * From now on nobody can change what a script has put this transaction's token into, without this
   * transaction's failing.
   */
  void watchHeld(Set<String> keys, String prefix) {
    if (keys.isEmpty()) {
      return;
    }
    held.addAll(keys);
    String[] names = keys.toArray(String[]::new);
    try {
      String unused = connection.executeCommand(commandObjects.watch(names));
      // It may have run out before it was watched.
      for (String value : connection.executeCommand(commandObjects.mget(names))) {
        if (!token.equals(value)) {
          throw runAgain("what it held has run out");
        }
      }
    } catch (JedisException e) {
      throw Errors.translate(e, prefix, connection);
    }
  }

  /** From now on it cannot be committed any more, also when the caller goes on. */
  TransientOutboxException runAgain(String why) {
    mustRunAgain = true;
    return new TransientOutboxException(
        "the transaction cannot be committed, because %s: roll back and run the whole transaction again"
            .formatted(why));
  }

  /** A script to be run with the other commands. */
  void queue(Script script, Server server, Arguments arguments) {
    CommandArguments whole = script.whole(server.keys(), arguments.list());
    add(new CommandObject<>(whole, BuilderFactory.RAW_OBJECT), server.prefix());
  }

  /** By which lock, or by this transaction itself, an entry is made done; null when it is not. */
  @Nullable String completedBy(String entry) {
    return completed.get(entry);
  }

  void completes(String entry, String by) {
    completed.put(entry, by);
  }

  // ---- as Jedis has it

  @Override
  protected <R> Response<R> appendCommand(CommandObject<R> command) {
    return add(command, null);
  }

  private <R> Response<R> add(CommandObject<R> command, @Nullable String prefix) {
    requireActive();
    Response<R> response = new Response<>(command.getBuilder());
    queue.add(new Queued<>(command, response, prefix));
    return response;
  }

  /** Does nothing: MULTI is sent by {@link #exec}. */
  @Override
  public void multi() {}

  /**
   * Watches keys of the caller's own. May be called at any time before {@link #exec}.
   *
   * @return OK
   */
  @Override
  public String watch(String... keys) {
    requireActive();
    return connection.executeCommand(commandObjects.watch(keys));
  }

  /** The same for keys of bytes. */
  @Override
  public String watch(byte[]... keys) {
    requireActive();
    return connection.executeCommand(commandObjects.watch(keys));
  }

  /**
   * Refused, because it would let go of what the outbox watches, too.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public String unwatch() {
    throw new UnsupportedOperationException(
        "UNWATCH lets go of what the outbox watches, too: discard the transaction and begin another");
  }

  /**
   * Commits. It is durable when this returns, if the server has {@code appendfsync always}.
   *
   * @return what each command returned, or its error; never null
   * @throws SchemaException when the schema of a store that it has joined is gone, or another now;
   *     nothing has happened
   * @throws TransientOutboxException when something that was watched has changed, and nothing has
   *     happened; or when the connection broke, and it is not known what has happened
   * @throws PermanentOutboxException when a command of the outbox failed; the caller's own were
   *     carried out
   */
  @Override
  public List<Object> exec() {
    requireActive();
    active = false;
    if (mustRunAgain) {
      releaseHolds();
      throw runAgain("an append or an entry of the inbox has failed in it");
    }
    List<Object> replies;
    try {
      replies = sendAll();
    } catch (JedisConnectionException e) {
      throw new TransientOutboxException(
          "the connection to Redis broke in a commit: it is not known whether that happened", e);
    } catch (JedisException e) {
      releaseHolds();
      throw aborted(e);
    } catch (OutboxException e) {
      releaseHolds();
      throw e;
    }
    if (replies == null) {
      releaseHolds();
      throw runAgain("something that it watches was changed by others, or was held for too long");
    }
    return results(replies);
  }

  /** Sets all responses, also when a command of the outbox has failed. */
  private List<Object> results(List<Object> replies) {
    List<Object> results = new ArrayList<>(replies.size());
    OutboxException failure = null;
    for (int i = 0; i < replies.size(); i++) {
      Queued<?> one = queue.get(i);
      Object result = one.set(replies.get(i));
      results.add(result);
      failure = failure == null ? one.failure(result) : failure;
    }
    if (failure != null) {
      releaseHolds();
      throw failure;
    }
    return results;
  }

  private @Nullable List<Object> sendAll() {
    joined.forEach(this::guard);
    connection.sendCommand(Command.MULTI);
    List<Object> guarded = mayUseMulti() ? null : awaitMulti();
    queue.forEach(one -> connection.sendCommand(one.command().getArguments()));
    connection.sendCommand(Command.EXEC);
    if (guarded == null) {
      guarded = connection.getMany(2 * joined.size() + 1);
    }
    List<Object> queued = connection.getMany(queue.size());
    try {
      List<Object> replies = connection.getObjectMultiBulkReply();
      if (replies == null) {
        requireSchemas(guarded);
      }
      return replies;
    } catch (JedisDataException e) {
      queued.stream()
          .filter(JedisDataException.class::isInstance)
          .forEach(refused -> e.addSuppressed((JedisDataException) refused));
      throw e;
    }
  }

  private boolean mayUseMulti() {
    return joined.stream().allMatch(server -> server.schema().mayUseMulti());
  }

  /**
   * Waits for the reply to MULTI, once for each store: without the right to it the server would
   * carry out the other commands one by one.
   *
   * @return the replies to it, and to the guards before it
   */
  private List<Object> awaitMulti() {
    List<Object> replies = connection.getMany(2 * joined.size() + 1);
    if (replies.get(replies.size() - 1) instanceof JedisDataException refused) {
      throw refused;
    }
    joined.forEach(server -> server.schema().multiWasTaken());
    return replies;
  }

  /**
   * In the same round trip: without the schema's key the scripts would fail beside what is done.
   */
  private void guard(Server server) {
    String key = server.schema().key();
    connection.sendCommand(Command.WATCH, key);
    connection.sendCommand(GUARD.whole(List.of(key.getBytes(UTF_8)), Server.arguments().list()));
  }

  /**
   * @param guarded the replies to WATCH and to the script, of each store
   */
  private void requireSchemas(List<Object> guarded) {
    int i = 1;
    for (Server server : joined) {
      if (guarded.get(i) instanceof JedisDataException e) {
        throw Errors.translate(e, server.prefix());
      }
      i += 2;
    }
  }

  /** EXECABORT says nothing but that some command was refused before. */
  private OutboxException aborted(JedisException e) {
    return e.getSuppressed().length > 0 && e.getSuppressed()[0] instanceof JedisException first
        ? Errors.translate(first, "", connection)
        : Errors.translate(e, "", connection);
  }

  private static OutboxException failedInside(JedisDataException e, String prefix) {
    OutboxException why = Errors.translate(e, prefix);
    if (!(why instanceof TransientOutboxException)) {
      return why;
    }
    return new PermanentOutboxException(
        "a command of the outbox failed inside of the transaction, whose other commands were carried out: "
            + why.getMessage(),
        e);
  }

  /** Forgets all commands. */
  @Override
  public String discard() {
    requireActive();
    active = false;
    if (!connection.isBroken()) {
      releaseHolds();
    }
    return "OK";
  }

  /** Where that fails they run out. */
  private void releaseHolds() {
    try {
      Object unused = connection.executeCommand(Command.UNWATCH);
      if (!held.isEmpty()) {
        Object ignored =
            RELEASE_HOLDS.run(
                connection,
                held.stream().map(key -> key.getBytes(UTF_8)).toList(),
                new Arguments().add(token).list());
      }
    } catch (JedisException e) {
      // whoever waits for them is told to try again, until then
    }
  }

  /** Gives the connection back; what was not committed is forgotten. */
  @Override
  public void close() {
    if (active) {
      String unused = discard();
    }
    if (!closed) {
      closed = true;
      giveBack();
    }
  }

  /**
   * For a broken one the pool tries to make another, when somebody waits for it. That fails as long
   * as the server is away, and says nothing about this transaction.
   */
  private void giveBack() {
    try {
      connection.close();
    } catch (JedisException e) {
      // whoever needs a connection is told
    }
  }
}
