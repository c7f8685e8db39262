package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.Texts;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.internal.InboxLock;
import dev.outbox.store.core.internal.InboxTaking;
import dev.outbox.store.core.internal.InboxTaking.State;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.mongo.InboxDocuments.Entry;
import dev.outbox.store.mongo.InboxDocuments.Taking;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The inbox on MongoDB 6.0 and newer, on a replica set or behind a {@code mongos}.
 *
 * <p>The documents, as they stand in collections that begin with the prefix:
 *
 * <pre>{@code
 * inbox_message   { _id: { consumer: "shipping", messageId: "…" },
 *                   state: "STARTED", "FAILED" or "DONE", attempts: 1,
 *                   token: UUID(…), lockUntil: ISODate(…),          whose the lock is, until when
 *                   fingerprint: BinData(…), contentType: …, result: BinData(…),  where given
 *                   lastError: …,                                   for people
 *                   expiresAt: ISODate(…) }                         from when on it may be forgotten
 * inbox_schema    { _id: "inbox", version: 1 }
 * }</pre>
 *
 * <ol>
 *   <li><b>firstTime</b>, in the caller's transaction: a {@code findAndModify} that inserts the
 *       document unless there is one, and brings back the one that is there. A first time is this
 *       one command. Else the document decides: done is done, a live lock is told, another one is
 *       taken over. MongoDB cannot wait for another transaction that has the key: it is a write
 *       conflict.
 *   <li><b>begin</b>: an {@code insert}, outside of a transaction; it waits for one that has the
 *       key. Where there is a document, it is read, and decides, too.
 *   <li><b>taking over</b>: a {@code findAndModify} of the document as it was found, with its token
 *       and the end of its lock.
 *   <li><b>complete, renew, release</b>: a {@code findAndModify} of the document that is started
 *       and has the lock's token. When there is none, the document says whether this lock did the
 *       same before.
 *   <li><b>housekeep</b>: deletes one by one what has expired, and leaves alone what an open
 *       transaction changes.
 * </ol>
 *
 * <p>Outside of the caller's transaction all is written on a majority of the members before it is
 * reported: an election undoes no lock. Where {@code inbox_message} is sharded, then by {@code
 * _id}.
 */
public final class MongoInboxStore implements InboxStore<ClientSession>, SchemaStore {

  private final InboxDocuments documents;
  private final Errors errors;
  private final Schema schema;
  private final ServerClock clock;

  private MongoInboxStore(Builder b) {
    PrefixedNames names = new PrefixedNames(null, b.prefix);
    Duration retention = InboxStore.checkedRetention(b.retention);
    documents = new InboxDocuments(b.client, b.database, names, retention);
    errors = new Errors(CollectionKind.INBOX, names);
    schema = new Schema(b.client, b.database, CollectionKind.INBOX, names);
    clock = new ServerClock(schema);
  }

  /** An inbox with the default names. */
  public static MongoInboxStore of(MongoClient client, String database) {
    return builder(client, database).build();
  }

  /**
   * Starts with the defaults that each setter names.
   *
   * @param database the name of the database that has the inbox's collections
   */
  public static Builder builder(MongoClient client, String database) {
    return new Builder(client, database);
  }

  // ---- consumers

  /**
   * {@inheritDoc}
   *
   * <p>Where the whole transaction has to run again, as after a conflict over the key, the error is
   * the driver's and not a {@code TransientOutboxException}. Only the driver's label makes {@code
   * withTransaction} run it again.
   *
   * @param transaction a session of this inbox's client in a transaction
   * @throws MongoException with the label {@code TransientTransactionError}: roll back and run the
   *     whole transaction again
   */
  @Override
  public boolean firstTime(ClientSession transaction, InboxKey key) {
    return errors.joining(
        transaction,
        () -> {
          Taking recorded = new Taking(UUID.randomUUID(), Fingerprint.none(), null, clock.now());
          return joining(transaction, key, recorded).firstTime(key);
        });
  }

  /** In the caller's transaction, where one command inserts a document or finds it. */
  private InboxTaking<Entry, RuntimeException> joining(
      ClientSession session, InboxKey key, Taking recorded) {
    return new InboxTaking<>() {
      private @Nullable Entry there;

      @Override
      public boolean insert() {
        there = documents.insertOrFind(session, key, recorded);
        return recorded.token().equals(there.token());
      }

      @Override
      public @Nullable Entry find() {
        return there;
      }

      @Override
      public boolean takeOver(Entry found) {
        return documents.takeOver(session, key, found, recorded);
      }
    };
  }

  @Override
  public Begin<ClientSession> begin(InboxKey key, Duration lock, Fingerprint fingerprint) {
    Duration checked = InboxStore.checkedLock(lock);
    UUID token = UUID.randomUUID();
    return errors.own(
        () ->
            outside(key, token, fingerprint, checked)
                .begin(key, fingerprint, attempts -> new MongoLock(key, token, attempts)));
  }

  /** Outside of a transaction. */
  private InboxTaking<Entry, RuntimeException> outside(
      InboxKey key, UUID token, Fingerprint fingerprint, Duration lock) {
    return new InboxTaking<>() {
      private @Nullable Taking started;

      /** The time is asked for anew: where there is no collection, an insert would make one. */
      @Override
      public boolean insert() {
        started = new Taking(token, fingerprint, lock, clock.read());
        return documents.insert(key, started);
      }

      @Override
      public @Nullable Entry find() {
        return documents.find(key, requireNonNull(started).now());
      }

      @Override
      public boolean takeOver(Entry found) {
        return documents.takeOver(null, key, found, requireNonNull(started));
      }
    };
  }

  private final class MongoLock extends InboxLock<ClientSession> {
    private final UUID token;

    MongoLock(InboxKey key, UUID token, int attempts) {
      super(key, attempts);
      this.token = token;
    }

    @Override
    public boolean renew(Duration lock) {
      Duration checked = InboxStore.checkedLock(lock);
      // Asked anew: the host may have been suspended since the last time, which is not counted.
      return errors.own(() -> documents.renew(key, token, checked, clock.read()));
    }

    @Override
    public boolean complete(InboxResult result) {
      return errors.own(() -> completed(null, result));
    }

    /** Errors that may pass are the driver's, as those of {@link MongoInboxStore#firstTime}. */
    @Override
    public boolean complete(ClientSession transaction, InboxResult result) {
      return errors.joining(transaction, () -> completed(transaction, result));
    }

    private boolean completed(@Nullable ClientSession session, InboxResult result) {
      return documents.complete(session, key, token, result, clock.now())
          || documents.is(session, key, token, State.DONE);
    }

    @Override
    public boolean release(String error) {
      String clean = Texts.clean(error);
      return errors.own(
          () ->
              documents.release(key, token, clean, clock.now())
                  || documents.is(null, key, token, State.FAILED));
    }
  }

  // ---- housekeeping

  @Override
  public void housekeep() {
    // One by one, so that nobody waits for long for a key that is being purged.
    while (!Thread.currentThread().isInterrupted()
        && errors.own(() -> documents.purge(clock.read()))) {}
  }

  @Override
  public InboxStatistics statistics(int cap) {
    int most = StatisticsStore.checked(cap);
    return errors.own(() -> documents.statistics(clock.read(), most));
  }

  // ---- the schema

  @Override
  public void migrate() {
    errors.run(schema::migrate);
  }

  @Override
  public String ddl() {
    return schema.ddl();
  }

  @Override
  public void verify() {
    errors.run(schema::verify);
  }

  @Override
  public String place() {
    return schema.place();
  }

  /** For mongosh; users get the roles that it makes. */
  @Override
  public String grants(String consumer, String housekeeper) {
    return schema.grants(Map.of("consumer", consumer, "housekeeper", housekeeper));
  }

  /** Not safe for use by many threads. */
  public static final class Builder {
    private final MongoClient client;
    private final String database;
    private String prefix = PrefixedNames.INBOX_PREFIX;
    private Duration retention = DEFAULT_RETENTION;

    private Builder(MongoClient client, String database) {
      this.client = requireNonNull(client, "client");
      this.database = requireNonNull(database, "database");
    }

    /** Before each collection's name. Default: {@value PrefixedNames#INBOX_PREFIX}. */
    public Builder prefix(String prefix) {
      this.prefix = prefix;
      return this;
    }

    /**
     * How long a key is remembered after it was done, at least 1 ms; longer than any message may
     * take to arrive again. Default: 7 days.
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
    public MongoInboxStore build() {
      return new MongoInboxStore(this);
    }
  }
}
