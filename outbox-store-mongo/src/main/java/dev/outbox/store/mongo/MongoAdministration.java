package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;

import com.mongodb.client.ClientSession;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import dev.outbox.spi.DeadLetterStore.DeadLetter;
import dev.outbox.spi.LeaseStore.WorkerLease;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Database.Administration;
import dev.outbox.store.core.internal.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/** Dead letters, figures, and putting right what somebody did to the collections. */
final class MongoAdministration implements Administration<MongoTransaction> {

  /** How many dedup keys are purged in one transaction. */
  private static final int PURGE = 1_000;

  private final OutboxCollections collections;
  private final HeldBuckets held;
  private final ServerClock clock;

  MongoAdministration(OutboxCollections collections, HeldBuckets held, ServerClock clock) {
    this.held = held;
    this.collections = collections;
    this.clock = clock;
  }

  private static Bson dead(long sequence) {
    return and(eq("status", Status.DEAD.name()), eq("seq", Sequence.timestamp(sequence)));
  }

  @Override
  public List<DeadLetter> deadLetters(MongoTransaction transaction, long afterSequence, int limit) {
    ClientSession session = transaction.session();
    List<DeadLetter> letters = new ArrayList<>();
    collections
        .message()
        .find(
            session,
            and(
                eq("status", Status.DEAD.name()),
                gt(
                    "seq",
                    afterSequence == 0 ? new BsonTimestamp() : Sequence.timestamp(afterSequence))))
        .sort(ascending("seq"))
        .limit(limit)
        .forEach(
            message ->
                letters.add(
                    new DeadLetter(
                        Documents.message(message),
                        message.get("lastError") instanceof String error ? error : null,
                        message.get("lastFailedAt") instanceof Date time
                            ? time.toInstant()
                            : null)));
    return letters;
  }

  private @Nullable Document find(ClientSession session, long sequence) {
    return collections
        .message()
        .find(session, dead(sequence))
        .projection(include("key", "partitionKey", "aggregateType", "aggregateId"))
        .first();
  }

  /** Whether the key was halted by it. Only the holder of the bucket removes a blocked key. */
  private boolean unhalt(ClientSession session, String key, BsonTimestamp haltedBy) {
    return collections
            .blockedKey()
            .updateOne(
                session,
                and(eq("_id", key), eq("haltedBy", haltedBy)),
                List.of(
                    Aggregates.set(new Field<>("retryAt", "$$NOW")), Aggregates.unset("haltedBy")))
            .getMatchedCount()
        > 0;
  }

  @Override
  public boolean requeue(MongoTransaction transaction, long sequence) {
    ClientSession session = transaction.session();
    Document found = find(session, sequence);
    if (found == null) {
      return false;
    }
    boolean unhalted = unhalt(session, Documents.key(found), Sequence.timestamp(sequence));
    Status status = unhalted ? Status.BLOCKED : Status.SCHEDULED;
    collections
        .message()
        .updateOne(
            session,
            eq("_id", found.get("_id")),
            List.of(
                Aggregates.set(
                    new Field<>("status", status.name()),
                    new Field<>("availableAt", "$$NOW"),
                    new Field<>("attempts", 0)),
                Aggregates.unset("availableMicros", "lastFailedAt")));
    return true;
  }

  @Override
  public boolean discard(MongoTransaction transaction, long sequence) {
    ClientSession session = transaction.session();
    Document found = find(session, sequence);
    if (found == null) {
      return false;
    }
    unhalt(session, Documents.key(found), Sequence.timestamp(sequence));
    collections.message().deleteOne(session, eq("_id", found.get("_id")));
    return true;
  }

  @Override
  public void freeHaltedByNothing(MongoTransaction transaction) {
    ClientSession session = transaction.session();
    List<Document> halted = new ArrayList<>();
    collections
        .blockedKey()
        .aggregate(
            session,
            List.of(
                Aggregates.match(exists("haltedBy")),
                OutboxCollections.lookup(
                    collections.message(),
                    "haltedBy",
                    "seq",
                    List.of(
                        Aggregates.match(eq("status", Status.DEAD.name())), Aggregates.limit(1)),
                    "by"),
                Aggregates.match(eq("by", List.of()))))
        .into(halted);
    halted.forEach(
        key -> unhalt(session, key.getString("_id"), key.get("haltedBy", BsonTimestamp.class)));
  }

  /** Puts back documents of buckets. */
  @Override
  public boolean restore(MongoTransaction transaction) {
    // Mostly there is nothing to do, and then no transaction.
    if (missing(transaction.asIs()).isEmpty()) {
      return false;
    }
    clock.check(); // or collections without rules and indexes would come of it
    List<Document> missing = missing(transaction.session());
    if (missing.isEmpty()) {
      return false;
    }
    collections.bucket().insertMany(transaction.session(), missing);
    return true;
  }

  private List<Document> missing(ClientSession session) {
    Set<Integer> there = new HashSet<>();
    collections
        .bucket()
        .find(session)
        .projection(include("_id"))
        .forEach(bucket -> there.add(bucket.getInteger("_id")));
    return IntStream.range(0, Database.BUCKETS)
        .filter(bucket -> !there.contains(bucket))
        .mapToObj(MongoAdministration::newBucket)
        .toList();
  }

  /** As the changelog makes it. */
  static Document newBucket(int bucket) {
    return new Document("_id", bucket)
        .append("token", 0L)
        .append("fence", 0L)
        .append("leaseUntil", new Date(0))
        .append("servedAt", new Date(0))
        .append("takeovers", 0)
        .append("singles", 0);
  }

  @Override
  public void restoreBlockedKeys(MongoTransaction transaction, List<Integer> buckets) {
    ClientSession session = transaction.session();
    List<Document> missing = new ArrayList<>();
    collections
        .message()
        .aggregate(
            session,
            List.of(
                Aggregates.match(and(eq("status", Status.BLOCKED.name()), in("bucket", buckets))),
                Aggregates.group("$key", Accumulators.first("bucket", "$bucket")),
                Aggregates.lookup(
                    collections.blockedKey().getNamespace().getCollectionName(),
                    "_id",
                    "_id",
                    "blocked"),
                Aggregates.match(eq("blocked", List.of())),
                Aggregates.project(new Document("bucket", 1).append("retryAt", "$$NOW"))))
        .into(missing);
    if (!missing.isEmpty()) {
      collections.blockedKey().insertMany(session, missing);
    }
  }

  @Override
  public boolean purgeDedup(MongoTransaction transaction, Duration window) {
    ClientSession session = transaction.session();
    Date oldest = Date.from(clock.now().minus(window));
    List<Object> keys = new ArrayList<>();
    collections
        .dedup()
        .find(session, lt("createdAt", oldest))
        .limit(PURGE)
        .projection(include("_id"))
        .forEach(key -> keys.add(key.get("_id")));
    if (!keys.isEmpty()) {
      collections.dedup().deleteMany(session, in("_id", keys));
    }
    return keys.size() == PURGE;
  }

  @Override
  public Statistics statistics(MongoTransaction transaction, int cap) {
    return new Counts(collections, transaction.beforehand(), cap).read(clock.read());
  }

  @Override
  public List<WorkerLease> leases(MongoTransaction transaction) {
    return held.leases(transaction);
  }
}
