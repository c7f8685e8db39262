package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Updates.inc;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import dev.outbox.Archive;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.mongo.Faults.Sent;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.LosesReplies;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.store.Archives;
import dev.outbox.tck.store.CountsWork;
import dev.outbox.tck.store.DedupWindows;
import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.FindsPoison;
import dev.outbox.tck.store.MongoOutboxStoreTck;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.StalledClients;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.bson.BsonBinary;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.opentest4j.TestAbortedException;

/** The TCK on MongoDB, in a database of its own. */
public class MongoStoreTck extends MongoOutboxStoreTck
    implements BreaksConnections,
        Archives<ClientSession>,
        DedupWindows<ClientSession>,
        RawRows<ClientSession>,
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

  /** The client's settings; a variant changes them. */
  protected void configure(MongoClientSettings.Builder settings) {}

  @Override
  protected int load() {
    return 1_000; // a message takes several times as long as on other servers
  }

  /** A variant changes it. */
  @Override
  protected String prefix() {
    return PrefixedNames.DEFAULT_PREFIX;
  }

  @BeforeAll
  @Override
  protected void start() {
    if (started.start(
        settings -> {
          settings.addCommandListener(stopping).addCommandListener(breaking);
          configure(settings);
        })) {
      migrate();
    }
  }

  @AfterAll
  void stop() {
    started.close();
  }

  @Override
  protected MongoClient client() {
    return started.client();
  }

  @Override
  protected String database() {
    return started.database;
  }

  /** The outbox, and an archive beside it: stores that keep none use only the first. */
  private void migrate() {
    createStore(Archive.FULL, null).migrate();
  }

  private MongoOutboxStore store() {
    return createStore(Archive.NONE, null);
  }

  @Override
  public MongoOutboxStore createStore(Archive archive, @Nullable Duration deadLetterRetention) {
    return builder().archive(archive).deadLetterRetention(deadLetterRetention).build();
  }

  private MongoOutboxStore.Builder builder() {
    return MongoOutboxStore.builder(client(), database()).prefix(prefix());
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
  public boolean isToRunAgain(Throwable failure) {
    return super.isToRunAgain(failure)
        && String.valueOf(failure.getMessage()).contains("run the whole transaction again");
  }

  /** Those of the archive too. */
  @Override
  protected List<String> emptied() {
    return Stream.concat(super.emptied().stream(), Stream.of("archive_message", "archive_audit"))
        .toList();
  }

  @Override
  public void insertRaw(ClientSession transaction, RawRow row) {
    collection("message").insertOne(transaction, document(row));
  }

  private static Document document(RawRow row) {
    Document document =
        new Document("seq", new BsonTimestamp())
            .append("id", new BsonBinary(row.id()))
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
    collection("message").insertOne(transaction, document(row).append("headers", List.of(1)));
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
    Document status = client().getDatabase("admin").runCommand(new Document("serverStatus", 1));
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
    collection("schema").updateMany(empty(), inc("version", -1));
  }

  @Override
  public void makeSchemaNewer() {
    collection("schema").updateMany(empty(), inc("version", 1));
  }

  @Override
  public void emptyInternalRows() {
    collection("bucket").deleteMany(empty());
    collection("blocked_key").deleteMany(empty());
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
    Instant now =
        new Schema(client(), database(), CollectionKind.OUTBOX, new PrefixedNames(null, prefix()))
            .now();
    earlier(
        collection("message"),
        by.isNegative() ? empty() : gt("availableAt", Date.from(now)),
        by,
        "availableAt");
    earlier(collection("message"), empty(), by, "createdAt");
    earlier(collection("bucket"), empty(), by, "leasedAt", "leaseUntil", "servedAt");
    earlier(collection("blocked_key"), empty(), by, "retryAt");
    earlier(collection("dedup"), empty(), by, "createdAt");
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
    new FailPoint(client(), database())
        .losingTheReply(client(), started.database, "commitTransaction", work);
  }

  @Override
  public boolean breakingAtWrite(int write, Runnable work) {
    return breaking.atWrite(write, new FailPoint(client(), database()), work);
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

  private AutoCloseable stopAtCommit(Supplier<?> work) {
    Stopping.Operation<?> stopped = stopping.before(new Sent("commitTransaction", 1), work);
    return () -> {
      try {
        Object ignored = stopped.wake();
      } catch (TransientOutboxException e) {
        // as it may have to
      }
    };
  }
}
