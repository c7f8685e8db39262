package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import dev.outbox.Archive;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.core.internal.Names;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.FailsOnConflict;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.store.CountsWork;
import dev.outbox.tck.store.DeadLetterRetentions;
import dev.outbox.tck.store.DedupWindows;
import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.FindsPoison;
import dev.outbox.tck.store.OutboxStoreTck;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.StalledClients;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/** The TCK on MongoDB, in a database of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class MongoStoreTck extends OutboxStoreTck<ClientSession>
    implements AutoCommit<ClientSession>,
        BreaksConnections,
        DeadLetterRetentions<ClientSession>,
        DedupWindows<ClientSession>,
        RawRows<ClientSession>,
        FailsOnConflict,
        CountsWork<ClientSession>,
        ExpiresMessages,
        FindsPoison,
        LosesReplies,
        SchemaFixture,
        MovesClock,
        StalledClients {
  private final Stopping stopping = new Stopping();
  private final Breaking breaking = new Breaking();
  private final Started started = new Started();
  private OutboxCollections collections;

  /** The client's settings; a variant changes them. */
  protected void configure(MongoClientSettings.Builder settings) {}

  /** The prefix of the collections' names; a variant changes it. */
  protected String prefix() {
    return Names.DEFAULT_PREFIX;
  }

  @BeforeAll
  void start() {
    if (started.start(
        settings -> {
          settings.addCommandListener(stopping).addCommandListener(breaking);
          configure(settings);
        })) {
      collections =
          OutboxCollections.of(started.client(), started.database, new Names(null, prefix()));
      migrate();
    }
  }

  @AfterAll
  void stop() {
    started.close();
  }

  /** The outbox, and an archive beside it: stores that keep none use only the first. */
  private void migrate() {
    createStore(Archive.FULL).migrate();
  }

  private MongoOutboxStore store() {
    return createStore(Archive.NONE);
  }

  @Override
  public MongoOutboxStore createStore(Archive archive) {
    return builder().archive(archive).build();
  }

  @Override
  public OutboxStore<ClientSession> createStore(Archive archive, Duration deadLetterRetention) {
    return builder().archive(archive).deadLetterRetention(deadLetterRetention).build();
  }

  private MongoOutboxStore.Builder builder() {
    return MongoOutboxStore.builder(started.client(), started.database).prefix(prefix());
  }

  @Override
  protected OutboxStore<ClientSession> createStore() {
    return store();
  }

  @Override
  public OutboxStore<ClientSession> createStore(Duration dedupWindow) {
    return builder().dedupWindow(dedupWindow).build();
  }

  @Override
  protected void inTransaction(Consumer<ClientSession> work) {
    started.inTransaction(work);
  }

  @Override
  public void withoutTransaction(Consumer<ClientSession> work) {
    started.withoutTransaction(work);
  }

  @Override
  public boolean isToRunAgain(Throwable failure) {
    return failure instanceof MongoException e
        && e.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)
        && String.valueOf(e.getMessage()).contains("run the whole transaction again");
  }

  @Override
  protected void reset() {
    MongoDatabase database = started.database();
    for (MongoCollection<Document> emptied :
        List.of(
            collections.message(),
            collections.blockedKey(),
            collections.dedup(),
            collections.pause(),
            database.getCollection(prefix() + "archive_message"),
            database.getCollection(prefix() + "archive_audit"))) {
      emptied.deleteMany(empty());
    }
    collections
        .bucket()
        .updateMany(
            empty(),
            combine(
                set("leaseUntil", new Date(0)),
                set("takeovers", 0),
                set("singles", 0),
                unset("claimId"),
                unset("session"),
                unset("leasedAt")));
  }

  @Override
  public void insertRaw(ClientSession transaction, RawRow row) {
    collections.message().insertOne(transaction, document(row));
  }

  private static Document document(RawRow row) {
    Document document =
        new Document("seq", new BsonTimestamp())
            .append("id", Uuids.binary(row.id()))
            .append("aggregateType", row.aggregateType())
            .append("aggregateId", row.aggregateId())
            .append("eventType", row.eventType())
            .append("payload", new Binary(row.payload()))
            .append("partitionKey", row.partitionKey())
            .append("availableAt", row.availableAt() == null ? null : Date.from(row.availableAt()));
    document.values().removeIf(value -> value == null);
    return document;
  }

  @Override
  public void insertUndecodable(ClientSession transaction, RawRow row) {
    collections.message().insertOne(transaction, document(row).append("headers", List.of(1)));
  }

  /** What the server says it examined: keys of indexes and documents. */
  @Override
  public <R> Counted<R> counted(
      OutboxStore<ClientSession> store, Function<OutboxStore<ClientSession>, R> work) {
    long before = examined();
    R result = work.apply(store);
    return new Counted<>(result, examined() - before);
  }

  private long examined() {
    Document status =
        started.client().getDatabase("admin").runCommand(new Document("serverStatus", 1));
    if (!(status.get("metrics") instanceof Document metrics)) {
      throw new TestAbortedException(
          "skipped: this server does not count what it examines; a mongod does");
    }
    Document executor = metrics.get("queryExecutor", Document.class);
    return executor.get("scanned", Number.class).longValue()
        + executor.get("scannedObjects", Number.class).longValue();
  }

  @Override
  public void dropSchema() {
    started.database().drop();
  }

  @Override
  public void makeSchemaOlder() {
    collections.schema().updateMany(empty(), inc("version", -1));
  }

  @Override
  public void makeSchemaNewer() {
    collections.schema().updateMany(empty(), inc("version", 1));
  }

  @Override
  public void emptyInternalRows() {
    collections.bucket().deleteMany(empty());
    collections.blockedKey().deleteMany(empty());
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    migrate();
  }

  /**
   * The server's clock cannot be moved, but all times that are compared with it can. A message that
   * is due stays as it is when the clock moves on: a claim may have it, and know it by its time.
   */
  @Override
  public void moveClock(Duration by) {
    Instant now = new ServerClock(collections.schema(), Contents.OUTBOX, found -> {}).read();
    earlier(
        collections.message(),
        by.isNegative() ? empty() : gt("availableAt", Date.from(now)),
        by,
        "availableAt");
    earlier(collections.message(), empty(), by, "createdAt");
    earlier(collections.bucket(), empty(), by, "leasedAt", "leaseUntil", "servedAt");
    earlier(collections.blockedKey(), empty(), by, "retryAt");
    earlier(collections.dedup(), empty(), by, "createdAt");
  }

  static void earlier(
      MongoCollection<Document> collection, Bson which, Duration by, String... fields) {
    List<Field<?>> moved =
        Arrays.stream(fields)
            .<Field<?>>map(
                field ->
                    new Field<>(
                        field,
                        new Document(
                            "$cond",
                            List.of(
                                new Document(
                                    "$eq", List.of(new Document("$type", "$" + field), "date")),
                                new Document("$subtract", List.of("$" + field, by.toMillis())),
                                "$$REMOVE"))))
            .toList();
    collection.updateMany(which, List.of(Aggregates.set(moved)));
  }

  @Override
  public void losingTheReply(Runnable work) {
    new FailPoint(started.client(), started.database)
        .losingTheReply(started.client(), started.database, "commitTransaction", work);
  }

  @Override
  public boolean breakingAtWrite(int write, Runnable work) {
    return breaking.atWrite(write, new FailPoint(started.client(), started.database), work);
  }

  /** Before it commits: the buckets are written. */
  @Override
  public AutoCloseable stopInClaim(Claim.Request request) {
    OutboxStore<ClientSession> store = store();
    return stopAtCommit(() -> store.claim(request));
  }

  @Override
  public AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions) {
    return stopAtCommit(() -> claim.settle(decisions));
  }

  private AutoCloseable stopAtCommit(Runnable work) {
    try {
      return stopping.stopAt("commitTransaction", work);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
