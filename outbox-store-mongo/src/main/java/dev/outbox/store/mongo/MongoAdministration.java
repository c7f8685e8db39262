package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Projections.computed;
import static com.mongodb.client.model.Projections.fields;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;

import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Updates;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.PauseStore.Pause;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.spi.store.StatisticsStore.WorkerLease;
import dev.outbox.store.core.internal.Administration;
import dev.outbox.store.core.internal.Administration.Expired;
import dev.outbox.store.core.internal.Administration.Noted;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters, figures, and putting right what somebody did to the collections.
 *
 * @param archiveSchema null where no archive is kept
 */
record MongoAdministration(
    OutboxCollections collections,
    MongoArchive archive,
    @Nullable ArchiveSchema archiveSchema,
    ServerClock clock)
    implements Administration<MongoTransaction> {

  /** How many dedup keys are purged in one transaction. */
  private static final int PURGE = 1_000;

  /** How many dead letters are looked at in one transaction. */
  private static final int SOME_DEAD = 1_000;

  /**
   * How many bytes of expired dead letters leave in one transaction; or it is a single one, as
   * where somebody requeues them meanwhile and all would be a conflict again.
   */
  private static final long MOST_EXPIRED = 4_000_000;

  @Override
  public List<DeadLetter> deadLetters(MongoTransaction transaction, long afterSequence, int limit) {
    List<Document> found = dead(transaction, afterSequence, limit).into(new ArrayList<>());
    Set<Object> halting = collections.halting(transaction.session(), found);
    return found.stream()
        .map(
            letter ->
                new DeadLetter(
                    Documents.message(letter),
                    Documents.textOrNull(letter, "lastError"),
                    Documents.timeOrNull(letter, "lastFailedAt"),
                    halting.contains(letter.get("seq"))))
        .toList();
  }

  private FindIterable<Document> dead(MongoTransaction transaction, long afterSequence, int limit) {
    return collections
        .message()
        .find(
            transaction.session(),
            and(eq("status", Status.DEAD.name()), gt("seq", Sequence.after(afterSequence))))
        .sort(ascending("seq"))
        .limit(limit);
  }

  /** What is needed of these messages, as far as they are there. */
  private List<Document> find(ClientSession session, Bson which) {
    return collections
        .message()
        .find(session, which)
        .projection(include("id", "seq", "bucket"))
        .into(new ArrayList<>());
  }

  private static Bson of(Status status, Set<Long> sequences) {
    return and(
        eq("status", status.name()),
        in("seq", sequences.stream().map(Sequence::timestamp).toList()));
  }

  private static List<Object> all(String field, Collection<Document> documents) {
    return documents.stream().map(document -> document.get(field, Object.class)).toList();
  }

  /** Lets keys go that are halted by these. Only the holder of the bucket removes a blocked key. */
  private void unhalt(ClientSession session, Collection<Object> haltedBy) {
    if (!haltedBy.isEmpty()) {
      collections
          .blockedKey()
          .updateMany(
              session,
              in("haltedBy", haltedBy),
              List.of(
                  Aggregates.set(new Field<>("retryAt", "$$NOW")), Aggregates.unset("haltedBy")));
    }
  }

  @Override
  public Set<Long> requeue(MongoTransaction transaction, Set<Long> sequences, @Nullable Who by) {
    ClientSession session = transaction.session();
    List<Document> found = find(session, of(Status.DEAD, sequences));
    noteLetters(transaction, Action.REQUEUED, by, found);
    Set<Object> halting = collections.halting(session, found);
    unhalt(session, halting);
    Map<Boolean, List<Document>> unhalted =
        found.stream()
            .collect(Collectors.partitioningBy(letter -> halting.contains(letter.get("seq"))));
    unhalted.forEach(
        (isUnhalted, letters) ->
            makeDue(session, letters, isUnhalted ? Status.BLOCKED : Status.SCHEDULED));
    return sequences(found);
  }

  private void makeDue(ClientSession session, List<Document> letters, Status status) {
    if (!letters.isEmpty()) {
      collections
          .message()
          .updateMany(
              session,
              in("_id", all("_id", letters)),
              List.of(
                  Aggregates.set(
                      new Field<>("status", status.name()),
                      new Field<>("availableAt", "$$NOW"),
                      new Field<>("attempts", 0)),
                  Aggregates.unset("availableMicros", "lastFailedAt")));
    }
  }

  @Override
  public Set<Long> discard(MongoTransaction transaction, Set<Long> sequences, @Nullable Who by) {
    ClientSession session = transaction.session();
    List<Document> found = find(session, of(Status.DEAD, sequences));
    unhalt(session, collections.halting(session, found));
    return discard(transaction, found, by);
  }

  private Set<Long> discard(MongoTransaction transaction, List<Document> found, @Nullable Who by) {
    noteLetters(transaction, Action.DISCARDED, by, found);
    if (!found.isEmpty()) {
      archive.removed(transaction, all("_id", found), Outcome.DISCARDED);
    }
    return sequences(found);
  }

  /** Writes the buckets as claims do, so that one which is open now and this cannot both commit. */
  @Override
  public Set<Long> cancel(MongoTransaction transaction, Set<Long> sequences, @Nullable Who by) {
    ClientSession session = transaction.session();
    Set<Object> buckets = Set.copyOf(all("bucket", undue(session, sequences)));
    if (buckets.isEmpty()) {
      return Set.of();
    }
    collections.bucket().updateMany(session, in("_id", buckets), Updates.inc("fence", 1L));
    return discard(transaction, undue(session, sequences), by);
  }

  /** Those that wait for their time now. */
  private List<Document> undue(ClientSession session, Set<Long> sequences) {
    return find(
        session, and(of(Status.SCHEDULED, sequences), gt("availableAt", Date.from(clock.read()))));
  }

  private static Set<Long> sequences(List<Document> letters) {
    return letters.stream().map(Documents::sequence).collect(Collectors.toSet());
  }

  private void noteLetters(
      MongoTransaction transaction, Action action, @Nullable Who by, List<Document> letters) {
    if (by != null) {
      archive.note(
          transaction,
          action,
          by,
          letters.stream()
              .map(letter -> new Noted(Documents.sequence(letter), Documents.id(letter)))
              .toList());
    }
  }

  @Override
  public void expire(MongoTransaction transaction, Collection<Claimable> expired) {
    archive.removed(transaction, expired.stream().map(Claimable::id).toList(), Outcome.EXPIRED);
  }

  @Override
  public Expired expireDeadLetters(MongoTransaction transaction, long after, Duration retention) {
    Date oldest = Date.from(clock.read().minus(retention));
    List<Document> looked =
        dead(transaction, after, SOME_DEAD)
            .projection(
                fields(
                    include("seq", "lastFailedAt"),
                    computed("size", new Document("$bsonSize", "$$ROOT"))))
            .into(new ArrayList<>());
    Set<Object> halting = collections.halting(transaction.session(), looked);
    List<Object> expired = new ArrayList<>();
    long bytes = 0;
    for (Document letter : looked) {
      boolean isOld =
          letter.get("lastFailedAt") instanceof Date failedAt && failedAt.before(oldest);
      if (isOld && !halting.contains(letter.get("seq"))) {
        expired.add(letter.get("_id", Object.class));
        bytes += letter.get("size", Number.class).longValue();
      }
      if (bytes > (transaction.isContended() ? 0 : MOST_EXPIRED)) {
        archive.removed(transaction, expired, Outcome.EXPIRED);
        return new Expired(Documents.sequence(letter), expired.size());
      }
    }
    if (!expired.isEmpty()) {
      archive.removed(transaction, expired, Outcome.EXPIRED);
    }
    boolean isEnd = looked.size() < SOME_DEAD;
    return new Expired(
        isEnd ? 0 : Documents.sequence(looked.get(looked.size() - 1)), expired.size());
  }

  // ---- pauses

  @Override
  public void pause(MongoTransaction transaction, String name, Who by) {
    Document pause = new Document("_id", name).append("pausedAt", Date.from(clock.read()));
    pause.append("who", by.name());
    if (by.reason() != null) {
      pause.append("reason", by.reason());
    }
    collections
        .pause()
        .replaceOne(
            transaction.session(), eq("_id", name), pause, new ReplaceOptions().upsert(true));
  }

  @Override
  public boolean resume(MongoTransaction transaction, String name) {
    return collections.pause().deleteOne(transaction.session(), eq("_id", name)).getDeletedCount()
        > 0;
  }

  /** Needs no snapshot, and so no transaction. */
  @Override
  public List<Pause> pauses(MongoTransaction transaction) {
    return collections
        .pause()
        .find(transaction.asIs())
        .map(
            one ->
                new Pause(
                    PauseStore.typeOf(one.getString("_id")),
                    one.getDate("pausedAt").toInstant(),
                    one.getString("who"),
                    one.getString("reason")))
        .into(new ArrayList<>());
  }

  // ---- archive and audit

  @Override
  public void note(MongoTransaction transaction, Action action, Who by, List<Noted> about) {
    archive.note(transaction, action, by, about);
  }

  @Override
  public List<Entry> audit(MongoTransaction transaction, Instant from, int limit) {
    return archive.audit(transaction, from, limit);
  }

  @Override
  public List<Archived> archived(MongoTransaction transaction, Search search, int limit) {
    return archive.archived(transaction, search, limit);
  }

  /** The server removes what is old enough. */
  @Override
  public boolean keepArchive(MongoTransaction transaction, Duration retention) {
    return false;
  }

  @Override
  public List<Finding> findings(MongoTransaction transaction) {
    return archiveSchema == null ? List.of() : archiveSchema.findings();
  }

  // ---- housekeeping

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
    unhalt(session, all("haltedBy", halted));
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
  public Statistics statistics(MongoTransaction transaction, int cap, @Nullable Integer relays) {
    return new Counts(collections, transaction.beforehand(), cap).read(clock.read());
  }

  /** By name. */
  @Override
  public List<WorkerLease> leases(MongoTransaction transaction) {
    List<WorkerLease> leases = new ArrayList<>();
    collections
        .bucket()
        .aggregate(
            transaction.beforehand(),
            List.of(
                Aggregates.match(exists("claimId")),
                Aggregates.match(
                    new Document("$expr", new Document("$gt", List.of("$leaseUntil", "$$NOW")))),
                Aggregates.group(
                    "$worker",
                    Accumulators.sum("buckets", 1),
                    Accumulators.min("since", "$leasedAt"),
                    Accumulators.max("until", "$leaseUntil")),
                Aggregates.sort(ascending("_id"))))
        .forEach(
            held ->
                leases.add(
                    new WorkerLease(
                        String.valueOf(held.get("_id")),
                        Documents.number(held, "buckets"),
                        held.getDate("since").toInstant(),
                        held.getDate("until").toInstant())));
    return leases;
  }
}
