package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.Appended;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.StoreOperations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The outbox on MongoDB 6.0 and newer, on a replica set or behind a {@code mongos}; a single server
 * has no transactions. Here is what MongoDB makes of buckets, leases and sequences.
 *
 * <p>The documents, as they stand in collections that begin with the prefix:
 *
 * <pre>{@code
 * outbox_message      { _id: ObjectId(…),                     by whoever inserts
 *                       seq: Timestamp(…),                    by the server: its place in the order
 *                       bucket: 17, status: "PENDING", key: "order/order-1",
 *                       id: UUID(…), aggregateType: "order", aggregateId: "order-1",
 *                       eventType: "OrderPlaced", payload: BinData(…),
 *                       contentType: "application/json", createdAt: ISODate(…),
 *                       partitionKey: …, headers: [{ name: …, value: … }],      where given
 *                       dedupKey: …, correlationId: …, maxAttempts: …,          where given
 *                       availableAt: ISODate(…), availableMicros: NumberLong(…),  where delayed
 *                       expiresAt: ISODate(…), expiresMicros: NumberLong(…),      where it expires
 *                       attempts: 1, lastError: …, lastFailedAt: ISODate(…) }   when it failed
 * outbox_bucket       { _id: 17, token: NumberLong(5), fence: NumberLong(12),
 *                       claimId: UUID(…), session: UUID(…), worker: "host/0",      while leased
 *                       leasedAt: ISODate(…), leaseUntil: ISODate(…), servedAt: ISODate(…),
 *                       takeovers: 0, singles: 0 }
 * outbox_blocked_key  { _id: "order/order-1", bucket: 17, retryAt: ISODate(…) }  or  haltedBy: Timestamp(…)
 * outbox_dedup        { _id: "request-1", createdAt: ISODate(…) }
 * outbox_pause        { _id: "order", pausedAt: ISODate(…), who: "alice", reason: … }
 * outbox_schema       { _id: "outbox", version: 1 }
 * }</pre>
 *
 * <p>Where an archive is kept:
 *
 * <pre>{@code
 * outbox_archive_message  { _id: { at: ISODate(…), seq: Timestamp(…), of: ObjectId(…) },  its order
 *                           archivedAt: ISODate(…),     by this the server removes it, when it is old
 *                           outcome: "DELIVERED", answer: "orders-3@1742",
 *                           seq, key, id, … of the message; with FULL payload and headers too }
 * outbox_archive_audit    { _id: ObjectId(…), notedAt: ISODate(…), action: "DISCARDED",
 *                           who: "alice", user: "admin@app", reason: …, seq: Timestamp(…),
 *                           messageId: "…" }
 * outbox_archive_schema   { _id: "archive", version: 1 }
 * }</pre>
 *
 * <ol>
 *   <li><b>append</b>: {@code insertMany} in the caller's transaction, with an empty timestamp as
 *       {@code seq}. Dedup keys are asked for and taken first, because a duplicate key would end
 *       that transaction ({@link Append}).
 *   <li><b>adopt</b>: documents by plain {@code insertOne} have no bucket, status and key. A claim
 *       first gives them to the oldest of those ({@link PlainInsertAdoption}).
 *   <li><b>lease</b>: of the free buckets that have work, longest unserved first, each is taken by
 *       a {@code findAndModify} of its own, outside any transaction: whoever is second finds that
 *       the token has changed, and skips it. The lease names the driver's session of this claim
 *       ({@link MongoLeases}).
 *   <li><b>read</b>, one transaction: {@code fence} is counted up in the buckets that are still
 *       ours; the first due messages of each are read in that snapshot ({@link MongoReads}, {@link
 *       BlockedReads}); what cannot be sent now is moved; commit, on a majority.
 *   <li><b>settle</b>, one transaction: {@code fence} is counted up in the buckets that are still
 *       ours; decisions are applied; buckets are given back, or read again; commit. What was
 *       delivered is deleted, and where there is an archive, found and copied there first ({@link
 *       MongoArchive}).
 * </ol>
 *
 * <p>Two transactions that write one document cannot both commit, and a lease writes it too: so
 * what a transaction read and wrote was done by the holder. A number is counted up because an
 * update that changes nothing is no write. Nothing waits for another transaction but a lease for
 * one that its holder did not finish in time; that one is ended with {@code killSessions}.
 */
public final class MongoOutboxStore extends BucketStore<ClientSession> {
  /** The outbox's, and the archive's where there is one. */
  private final List<Schema> schemas;

  private final Errors errors;
  private final Append append;

  private MongoOutboxStore(
      List<Schema> schemas,
      Errors errors,
      Append append,
      StoreOperations<MongoTransaction> operations) {
    super(operations, MongoTransaction::session);
    this.schemas = schemas;
    this.errors = errors;
    this.append = append;
  }

  /** A store with the default names, for relays and for appending. */
  public static MongoOutboxStore of(MongoClient client, String database) {
    return builder(client, database).build();
  }

  /**
   * Starts with the defaults that each setter names.
   *
   * @param database the name of the database that has the outbox's collections
   */
  public static Builder builder(MongoClient client, String database) {
    return new Builder(client, database);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Where the whole transaction has to run again, as after a conflict with another one, the
   * error is the driver's and not a {@code TransientOutboxException}: only an error with its label
   * makes {@code withTransaction} do so.
   *
   * @param transaction a session of this store's client in a transaction; with dedup keys, one that
   *     reads on the primary
   * @throws MongoException with the label {@code TransientTransactionError}: roll back and run the
   *     whole transaction again
   */
  @Override
  public Appended append(ClientSession transaction, List<OutboxMessage> messages) {
    return Appended.of(messages, append.append(transaction, messages));
  }

  @Override
  protected void migrateSchema() {
    errors.run(() -> schemas.forEach(Schema::migrate));
  }

  @Override
  public String ddl() {
    return schemas.stream().map(Schema::ddl).collect(Collectors.joining("\n"));
  }

  @Override
  protected void checkSchema() {
    errors.run(() -> schemas.forEach(Schema::verify));
  }

  @Override
  public String place() {
    return schemas.get(0).place();
  }

  @Override
  public OptionalInt maxConnections() {
    return OptionalInt.empty();
  }

  /** For mongosh; users get the roles that it makes. */
  @Override
  public String grants(String producer, String relay) {
    Map<String, String> users = Map.of("producer", producer, "relay", relay);
    return schemas.stream().map(schema -> schema.grants(users)).collect(Collectors.joining("\n"));
  }

  /** Not safe for use by many threads. */
  public static final class Builder {
    private final MongoClient client;
    private final String database;
    private String prefix = PrefixedNames.DEFAULT_PREFIX;
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;
    private History history = History.NONE;

    private Builder(MongoClient client, String database) {
      this.client = requireNonNull(client, "client");
      this.database = requireNonNull(database, "database");
    }

    /** Before each collection's name. Default: {@value PrefixedNames#DEFAULT_PREFIX}. */
    public Builder prefix(String prefix) {
      this.prefix = prefix;
      return this;
    }

    /** How long a dedup key is remembered, at least 1 ms. Default: 7 days. */
    public Builder dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return this;
    }

    /**
     * What is kept of messages that leave the store (S7), in collections of its own, which {@link
     * MongoOutboxStore#migrate} makes and {@link MongoOutboxStore#verify} demands. All stores of
     * one outbox that settle or discard should be told the same. Default: {@link Archive#NONE}.
     */
    public Builder archive(Archive archive) {
      requireNonNull(archive, "archive");
      return history(new History(archive, history.retention(), history.deadLetters()));
    }

    /**
     * How long what is archived is kept, at least 1 ms, rounded up to seconds. The server removes
     * it by an index, which {@link MongoOutboxStore#migrate} sets to this; a store that only relays
     * changes nothing about it. Default: null, as it is set already; 30 days for a new archive.
     */
    public Builder archiveRetention(@Nullable Duration archiveRetention) {
      return history(new History(history.archive(), archiveRetention, history.deadLetters()));
    }

    /**
     * How long dead letters are kept, at least 1 ms; then housekeeping removes them, into the
     * archive if there is one. Those that halt their key stay until somebody decides. Default:
     * null, all stay.
     */
    public Builder deadLetterRetention(@Nullable Duration deadLetterRetention) {
      return history(new History(history.archive(), history.retention(), deadLetterRetention));
    }

    /** All three. */
    Builder history(History history) {
      this.history = history;
      return this;
    }

    /**
     * Does not connect yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what is allowed
     */
    public MongoOutboxStore build() {
      Archive archive = history.archive();
      PrefixedNames names = new PrefixedNames(null, prefix);
      OutboxCollections collections = OutboxCollections.of(client, database, names);
      Errors errors = new Errors(CollectionKind.OUTBOX, names);
      Schema schema = new Schema(client, database, CollectionKind.OUTBOX, names);
      ArchiveSchema archiveSchema =
          archive == Archive.NONE
              ? null
              : new ArchiveSchema(client, database, names.archive(), history.retention());
      ServerClock clock = new ServerClock(schema);
      MongoArchive archived = new MongoArchive(client, database, names, archive);
      PlainInsertAdoption adoption = new PlainInsertAdoption(collections.message());
      Database<MongoTransaction> outbox =
          new Database<>(
              new MongoLeases(client, collections, clock, adoption),
              new MongoReads(collections, adoption),
              new MongoWrites(collections, archived),
              new MongoAdministration(collections, archived, archiveSchema, clock),
              new MongoInspection(collections));
      StoreOperations<MongoTransaction> operations =
          new StoreOperations<>(
              outbox, new MongoTransactions(client, errors), dedupWindow, history);
      return new MongoOutboxStore(
          archiveSchema == null ? List.of(schema) : List.of(schema, archiveSchema),
          errors,
          new Append(collections, clock, errors, operations.dedupWindow()),
          operations);
    }
  }
}
