package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.LeaseStore.RelayLease;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Row;
import dev.outbox.store.core.Statements;
import dev.outbox.store.core.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * What a claim and a settle ask of MongoDB. Messages are known by {@code _id}, and asked for by
 * nothing else beside it: with a status the server might plan to read all messages that have it.
 */
final class MongoStatements implements Statements<MongoTransaction> {
  private final OutboxCollections collections;
  private final ServerClock clock;
  private final Adoption adoption;
  private final HeldBuckets held;
  private final Leases leases;
  private final Reads reads;
  private final BlockedReads blockedReads;
  private final Administration administration;

  MongoStatements(MongoClient client, OutboxCollections collections, ServerClock clock) {
    this.collections = collections;
    this.clock = clock;
    adoption = new Adoption(collections.message());
    held = new HeldBuckets(collections);
    leases = new Leases(client, collections, held, clock);
    reads = new Reads(collections, adoption);
    blockedReads = new BlockedReads(collections, adoption, reads);
    administration = new Administration(collections, clock);
  }

  /** Each costs a command at the lease. */
  @Override
  public int mostBuckets() {
    return 8;
  }

  /** A conflict would undo what the transaction has settled. */
  @Override
  public boolean leasesInTransaction() {
    return false;
  }

  @Override
  public List<Lease> lease(
      MongoTransaction transaction, UUID owner, ClaimRequest request, int most) {
    adoption.adopt(transaction.beforehand(), request.maxMessages());
    return leases.lease(transaction, owner, request, most);
  }

  @Override
  public Set<Integer> renew(
      MongoTransaction transaction, UUID owner, Collection<Lease> kept, Duration lease) {
    return held.renew(transaction, owner, kept, lease);
  }

  @Override
  public List<Held> lockHeld(MongoTransaction transaction, UUID owner, Collection<Lease> kept) {
    return held.hold(transaction, owner, kept);
  }

  @Override
  public void release(MongoTransaction transaction, UUID owner, List<Release> releases) {
    held.release(transaction, owner, releases);
  }

  @Override
  public Pending readPending(MongoTransaction transaction, List<Lease> from, Limits limits) {
    return new Pending(reads.pending(transaction, from, limits), 0);
  }

  @Override
  public List<Row> readScheduled(MongoTransaction transaction, List<Lease> from, Limits limits) {
    return reads.scheduled(transaction, from, limits);
  }

  @Override
  public List<Row> readBlocked(MongoTransaction transaction, List<Lease> from, Limits limits) {
    return blockedReads.read(transaction, from, limits);
  }

  @Override
  public void move(MongoTransaction transaction, Collection<Row> rows) {
    for (Status target : List.of(Status.BLOCKED, Status.SCHEDULED)) {
      List<Row> moved = rows.stream().filter(row -> row.target() == target).toList();
      if (!moved.isEmpty()) {
        collections
            .message()
            .updateMany(transaction.session(), in("_id", ids(moved)), set("status", target.name()));
      }
    }
  }

  @Override
  public void count(MongoTransaction transaction, Collection<Row> rows, int by) {
    Document attempts = new Document("$ifNull", List.of("$attempts", 0));
    Document counted =
        new Document(
            "$max",
            List.of(
                0,
                new Document(
                    "$add",
                    List.of(new Document("$min", List.of(attempts, Integer.MAX_VALUE - 1)), by))));
    collections
        .message()
        .updateMany(
            transaction.session(),
            in("_id", ids(rows)),
            List.of(Aggregates.set(new Field<>("attempts", new Document("$toInt", counted)))));
  }

  @Override
  public void delete(MongoTransaction transaction, Collection<Row> rows) {
    collections.message().deleteMany(transaction.session(), in("_id", ids(rows)));
  }

  private static List<@Nullable Object> ids(Collection<Row> rows) {
    List<@Nullable Object> ids = new ArrayList<>(rows.size());
    rows.forEach(row -> ids.add(row.id()));
    return ids;
  }

  /** Asked first which are as they were claimed; what changes meanwhile is a write conflict. */
  @Override
  public Set<Long> fail(MongoTransaction transaction, List<Failure> failures) {
    Map<Object, Document> found = new HashMap<>();
    collections
        .message()
        .find(transaction.session(), in("_id", ids(failures.stream().map(Failure::row).toList())))
        .projection(include("attempts", "status", "availableAt", "availableMicros"))
        .forEach(message -> found.put(message.get("_id"), message));
    Set<Long> changed = new HashSet<>();
    List<WriteModel<Document>> updates = new ArrayList<>();
    for (Failure failure : failures) {
      Document now = found.get(failure.row().id());
      if (now != null
          && Documents.attempts(now) == failure.attempts()
          && Objects.equals(Documents.time(now), failure.row().availableAt())
          && !Status.DEAD.name().equals(now.getString("status"))) {
        changed.add(failure.row().sequence());
        updates.add(
            new UpdateOneModel<>(
                eq("_id", failure.row().id()),
                combine(
                    set("status", failure.status().name()),
                    set("attempts", failure.attemptsAfter()),
                    set("lastError", failure.error()),
                    set("lastFailedAt", transaction.now()))));
      }
    }
    if (!updates.isEmpty()) {
      collections.message().bulkWrite(transaction.session(), updates);
    }
    return changed;
  }

  /** A key that is halted stays so. */
  @Override
  public void block(MongoTransaction transaction, List<Block> blocks) {
    List<WriteModel<Document>> updates = new ArrayList<>();
    for (Block block : blocks) {
      Document fields = new Document("bucket", block.bucket());
      if (block.halted()) {
        fields
            .append("haltedBy", Sequence.timestamp(block.sequence()))
            .append("retryAt", "$$REMOVE");
      } else {
        Date retryAt = new Date(transaction.now().getTime() + block.delay().toMillis());
        Document halted = new Document("$gt", List.of("$haltedBy", new BsonTimestamp()));
        fields.append("retryAt", new Document("$cond", List.of(halted, "$$REMOVE", retryAt)));
      }
      updates.add(
          new UpdateOneModel<>(
              eq("_id", block.key()),
              List.of(new Document("$set", fields)),
              new UpdateOptions().upsert(true)));
    }
    collections.blockedKey().bulkWrite(transaction.session(), updates);
  }

  /** Nothing says where a blocked key begins: its index does. */
  @Override
  public void lower(MongoTransaction transaction, List<Key> keys) {}

  @Override
  public void advance(MongoTransaction transaction, Collection<Key> keys) {
    ClientSession session = transaction.session();
    List<String> names = keys.stream().map(Key::key).toList();
    Set<String> waiting =
        collections
            .message()
            .distinct(
                session,
                "key",
                and(eq("status", Status.BLOCKED.name()), in("key", names)),
                String.class)
            .into(new HashSet<>());
    List<String> free = names.stream().filter(key -> !waiting.contains(key)).toList();
    if (!waiting.isEmpty()) {
      collections
          .blockedKey()
          .updateMany(session, notHalted(waiting), set("retryAt", transaction.now()));
    }
    if (!free.isEmpty()) {
      collections.blockedKey().deleteMany(session, notHalted(free));
    }
  }

  private static Bson notHalted(Collection<String> keys) {
    return and(in("_id", keys), exists("retryAt"));
  }

  @Override
  public List<DeadLetter> deadLetters(MongoTransaction transaction, long afterSequence, int limit) {
    return administration.deadLetters(transaction.session(), afterSequence, limit);
  }

  @Override
  public boolean requeue(MongoTransaction transaction, long sequence) {
    return administration.requeue(transaction.session(), sequence);
  }

  @Override
  public boolean discard(MongoTransaction transaction, long sequence) {
    return administration.discard(transaction.session(), sequence);
  }

  @Override
  public Statistics statistics(MongoTransaction transaction) {
    return new Counts(collections, clock).read(transaction.beforehand());
  }

  @Override
  public List<RelayLease> leases(MongoTransaction transaction) {
    return held.leases(transaction);
  }

  @Override
  public void freeHaltedByNothing(MongoTransaction transaction) {
    administration.freeHaltedByNothing(transaction.session());
  }

  @Override
  public boolean restore(MongoTransaction transaction) {
    return administration.restore(transaction);
  }

  @Override
  public void restoreBlockedKeys(MongoTransaction transaction, List<Integer> buckets) {
    administration.restoreBlockedKeys(transaction.session(), buckets);
  }

  @Override
  public void forgetMark(MongoTransaction transaction, int bucket) {}

  @Override
  public void catchUpSequence(MongoTransaction transaction) {}

  @Override
  public boolean purgeDedup(MongoTransaction transaction, Duration window) {
    return administration.purgeDedup(transaction.session(), window);
  }
}
