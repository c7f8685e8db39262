package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lte;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;
import static java.util.Objects.requireNonNull;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.WriteModel;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.FairShare;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ServedLease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.bson.BsonBinary;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Who holds which buckets. Takes free ones for a claim, and ends the transactions of holders that
 * stopped in one. Then, in the holder's transactions, writes the documents of its buckets.
 */
record MongoLeases(
    MongoClient client,
    OutboxCollections collections,
    ServerClock clock,
    PlainInsertAdoption adoption)
    implements Leases<MongoTransaction> {
  private static final Date LONG_AGO = new Date(0);

  /** So much later than this claim another may say that it served a bucket. */
  private static final Duration CLOCKS_DIFFER = Duration.ofSeconds(10);

  /**
   * How long a lease waits for a document that an open transaction may have written: only a holder
   * that let its lease run out and stopped in the middle of a settle has such a one.
   */
  private static final long WAIT_MILLIS = 100;

  /** How long it waits for others: nobody but a slow server holds them up. */
  private static final long PATIENCE_MILLIS = 5_000;

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

  /** Which buckets have work that is due. */
  private record Due(Set<Integer> pending, Set<Integer> scheduled, Set<Integer> blocked) {
    boolean has(int bucket) {
      return pending.contains(bucket) || scheduled.contains(bucket) || blocked.contains(bucket);
    }
  }

  /**
   * Takes free buckets with work, one {@code findAndModify} each, and begins the transaction with
   * those that are still ours.
   */
  @Override
  public List<Lease> lease(
      MongoTransaction transaction, UUID claimId, Claim.Request request, int most) {
    ClientSession session = transaction.beforehand();
    adoption.adopt(session, request.maxMessages());
    List<Document> buckets =
        collections
            .bucket()
            .aggregate(session, List.of(Aggregates.set(new Field<>("now", "$$NOW"))))
            .into(new ArrayList<>());
    if (buckets.isEmpty()) {
      clock.check();
      return List.of();
    }
    Date now = buckets.get(0).getDate("now");
    Due due = due(session, now);
    transaction.whenClaimFails(after -> giveBack(after, claimId));
    List<Document> leased = new ArrayList<>();
    List<Document> free = new ArrayList<>();
    FairShare share = new FairShare(request.worker());
    for (Document bucket : buckets) {
      if (claimId.equals(Documents.uuid(bucket.get("claimId")))) {
        leased.add(bucket);
      } else if (!isFree(bucket, now)) {
        share.leased(String.valueOf(bucket.get("worker")));
      } else if (due.has(number(bucket))) {
        share.free();
        free.add(bucket);
      }
    }
    free.sort(
        Comparator.comparing((Document bucket) -> servedAt(bucket, now))
            .thenComparing(bucket -> number(bucket)));
    leased.addAll(
        ServedLease.upTo(
            share.of(most) - leased.size(),
            free,
            some -> take(session, some, claimId, request, now)));
    transaction.now(now);
    Set<Integer> ours =
        fence(transaction, claimId, leased.stream().map(MongoLeases::number).toList());
    return ServedLease.inTurn(
        leased.stream()
            .filter(bucket -> ours.contains(number(bucket)))
            .map(bucket -> served(bucket, due, request, now))
            .toList());
  }

  /** Each of the three reads skips in an index from bucket to bucket, whatever waits there. */
  private Due due(ClientSession session, Date now) {
    return new Due(
        distinctBuckets(session, eq("status", Status.PENDING.name())),
        distinctBuckets(
            session, and(eq("status", Status.SCHEDULED.name()), lte("availableAt", now))),
        collections
            .blockedKey()
            .distinct(session, "bucket", and(gte("bucket", 0), lte("retryAt", now)), Integer.class)
            .into(new HashSet<>()));
  }

  private Set<Integer> distinctBuckets(ClientSession session, Bson filter) {
    Set<Integer> buckets = new HashSet<>();
    collections
        .message()
        .distinct(session, "bucket", and(filter, gte("bucket", 0)), BsonValue.class)
        .forEach(bucket -> buckets.add(bucket.asNumber().intValue()));
    return buckets;
  }

  /** A lease counts while it lasts; one too far ahead is from before the clock jumped back. */
  private static boolean isFree(Document bucket, Date now) {
    Date until = bucket.getDate("leaseUntil");
    Date since = bucket.getDate("leasedAt");
    return !until.after(now)
        || (since != null && since.getTime() - now.getTime() > until.getTime() - since.getTime());
  }

  private List<Document> take(
      ClientSession session, List<Document> free, UUID claimId, Claim.Request request, Date now) {
    List<Document> taken = new ArrayList<>();
    for (Document bucket : free) {
      Document leased = take(session, bucket, claimId, request, now);
      if (leased != null) {
        taken.add(leased);
      }
    }
    return taken;
  }

  /** Null when somebody else was quicker: then its token or its time is another. */
  private @Nullable Document take(
      ClientSession session, Document bucket, UUID claimId, Claim.Request request, Date now) {
    boolean ranOut = bucket.get("claimId") != null;
    boolean crashed = ranOut && bucket.getBoolean("fenced", false);
    boolean suspect = crashed && Documents.number(bucket, "takeovers") >= 2;
    List<Bson> changes =
        new ArrayList<>(
            List.of(
                inc("token", 1L),
                set("claimId", new BsonBinary(claimId)),
                set("session", id(session)),
                set("fenced", false),
                set("worker", request.worker()),
                set("leasedAt", now),
                set("leaseUntil", new Date(now.getTime() + request.lease().toMillis()))));
    if (suspect) {
      changes.add(set("singles", request.maxMessages()));
    }
    if (crashed) {
      changes.add(set("takeovers", suspect ? 0 : Documents.number(bucket, "takeovers") + 1));
    }
    long most = ranOut ? WAIT_MILLIS : PATIENCE_MILLIS;
    try {
      return take(session, bucket, changes, most);
    } catch (MongoExecutionTimeoutException | MongoOperationTimeoutException e) {
      if (!ranOut) {
        throw e;
      }
      if (!endStalled(bucket.get("session"))) {
        return null;
      }
    }
    try {
      Document taken = take(session, bucket, changes, most);
      return taken != null ? taken : takenLate(session, bucket, claimId);
    } catch (MongoExecutionTimeoutException | MongoOperationTimeoutException e) {
      return null; // it could not be ended
    }
  }

  private @Nullable Document take(
      ClientSession session, Document bucket, List<Bson> changes, long mostMillis) {
    return OutboxCollections.within(collections.bucket(), mostMillis)
        .findOneAndUpdate(
            session,
            and(
                eq("_id", bucket.get("_id")),
                eq("token", bucket.get("token")),
                eq("leaseUntil", bucket.get("leaseUntil"))),
            combine(changes),
            new FindOneAndUpdateOptions()
                .returnDocument(ReturnDocument.AFTER)
                .maxTime(mostMillis, TimeUnit.MILLISECONDS));
  }

  /**
   * A client with a time limit of its own may give a command up before the server does. Then the
   * server takes the bucket when the other's transaction has ended, for a claim that does not know
   * it, and nobody else could have it until that lease is over.
   */
  private @Nullable Document takenLate(ClientSession session, Document bucket, UUID claimId) {
    return collections
        .bucket()
        .find(session, and(eq("_id", bucket.get("_id")), eq("claimId", new BsonBinary(claimId))))
        .first();
  }

  /**
   * Ends the transaction of a holder that stopped in it after its lease was over. Any user may do
   * so to sessions of its own.
   *
   * @return whether it was allowed
   */
  private boolean endStalled(@Nullable Object session) {
    if (session == null) {
      return false;
    }
    try {
      OutboxCollections.in(client, "admin")
          .runCommand(new Document("killSessions", List.of(new Document("id", session))));
      return true;
    } catch (MongoCommandException e) {
      // Not allowed, or not offered: the server's own limit for transactions frees the bucket.
      return false;
    }
  }

  private static BsonBinary id(ClientSession session) {
    return session.getServerSession().getIdentifier().getBinary("id");
  }

  /**
   * When a bucket was served last. What was served in the future was served before the clock was
   * put back, so long ago: else all would wait for the clock but those that are served now (C6).
   */
  private static Instant servedAt(Document bucket, Date now) {
    Instant at = bucket.getDate("servedAt").toInstant();
    return at.isAfter(now.toInstant().plus(CLOCKS_DIFFER)) ? Instant.EPOCH : at;
  }

  private static ServedLease served(Document bucket, Due due, Claim.Request request, Date now) {
    int number = number(bucket);
    return new ServedLease(
        servedAt(bucket, now),
        Lease.begins(
            number,
            bucket.get("token", Number.class).longValue(),
            Lease.STATELESS,
            due.scheduled().contains(number),
            due.blocked().contains(number),
            Documents.number(bucket, "singles") > 0,
            request.lease()));
  }

  // ---- what is held

  /**
   * Writes the buckets that are still ours, so that this transaction and another one that takes
   * them over cannot both commit. A number that grows, because an update that changes nothing is no
   * write.
   */
  private Set<Integer> fence(
      MongoTransaction transaction, UUID claimId, Collection<Integer> buckets) {
    if (buckets.isEmpty()) {
      return Set.of();
    }
    Bson ours = ours(claimId, buckets);
    long fenced =
        collections
            .bucket()
            .updateMany(transaction.session(), ours, combine(inc("fence", 1L), set("fenced", true)))
            .getMatchedCount();
    return fenced == buckets.size() ? Set.copyOf(buckets) : numbers(transaction, ours);
  }

  private Set<Integer> numbers(MongoTransaction transaction, Bson filter) {
    Set<Integer> numbers = new HashSet<>();
    collections
        .bucket()
        .find(transaction.session(), filter)
        .forEach(bucket -> numbers.add(number(bucket)));
    return numbers;
  }

  private static Bson ours(UUID claimId, Collection<Integer> buckets) {
    return and(in("_id", buckets), eq("claimId", new BsonBinary(claimId)));
  }

  /** Those that are still ours, written, with what their work says. */
  @Override
  public List<Lease> lockHeld(
      MongoTransaction transaction, UUID claimId, Collection<Lease> leases) {
    List<Integer> buckets = numbers(leases);
    if (fence(transaction, claimId, buckets).isEmpty()) {
      return List.of();
    }
    Map<Integer, Lease> byBucket = new HashMap<>();
    leases.forEach(lease -> byBucket.put(lease.bucket(), lease));
    List<Lease> held = new ArrayList<>();
    collections
        .bucket()
        .aggregate(
            transaction.session(),
            List.of(
                Aggregates.match(ours(claimId, buckets)),
                earliest(
                    collections.message(),
                    and(eq("status", Status.SCHEDULED.name()), gte("availableAt", LONG_AGO)),
                    "availableAt",
                    "scheduled"),
                earliest(collections.blockedKey(), gte("retryAt", LONG_AGO), "retryAt", "blocked"),
                Aggregates.set(new Field<>("now", "$$NOW"))))
        .forEach(
            bucket -> {
              Date now = bucket.getDate("now");
              transaction.now(now);
              held.add(
                  requireNonNull(byBucket.get(number(bucket)))
                      .goesOn(
                          Duration.ofMillis(bucket.getDate("leaseUntil").getTime() - now.getTime()),
                          isDue(bucket, "scheduled", "availableAt", now),
                          isDue(bucket, "blocked", "retryAt", now),
                          Lease.STATELESS));
            });
    return held;
  }

  /** The document of a bucket with the least value of a field, in a list. */
  private static Bson earliest(
      MongoCollection<Document> from, Bson filter, String field, String as) {
    return OutboxCollections.lookup(
        from,
        "_id",
        "bucket",
        List.of(
            Aggregates.match(filter),
            Aggregates.sort(new Document(field, 1)),
            Aggregates.limit(1),
            Aggregates.project(new Document("_id", 0).append(field, 1))),
        as);
  }

  private static boolean isDue(Document bucket, String list, String field, Date now) {
    return bucket.getList(list, Document.class).stream()
        .anyMatch(earliest -> !earliest.getDate(field).after(now));
  }

  @Override
  public Set<Integer> renew(
      MongoTransaction transaction, UUID claimId, Collection<Lease> leases, Duration lease) {
    List<Integer> buckets = numbers(leases);
    Bson ours = ours(claimId, buckets);
    long renewed =
        collections
            .bucket()
            .updateMany(
                transaction.session(),
                ours,
                List.of(
                    Aggregates.set(
                        new Field<>("leasedAt", "$$NOW"),
                        new Field<>(
                            "leaseUntil",
                            new Document("$add", List.of("$$NOW", lease.toMillis()))))))
            .getMatchedCount();
    return renewed == buckets.size() ? Set.copyOf(buckets) : numbers(transaction, ours);
  }

  /** Those with the same changes in one statement, and as a rule that is all. */
  @Override
  public void release(MongoTransaction transaction, UUID claimId, List<Release> releases) {
    Map<Document, List<Integer>> byChange = new HashMap<>();
    for (Release release : releases) {
      byChange
          .computeIfAbsent(changes(release), change -> new ArrayList<>())
          .add(release.lease().bucket());
    }
    List<WriteModel<Document>> updates = new ArrayList<>();
    byChange.forEach(
        (change, buckets) ->
            updates.add(
                new UpdateManyModel<>(
                    ours(claimId, buckets),
                    List.of(
                        new Document("$set", change),
                        new Document("$unset", List.of("claimId", "session", "leasedAt"))))));
    collections.bucket().bulkWrite(transaction.session(), updates);
  }

  /** All that was leased for a claim that failed then. */
  private void giveBack(MongoTransaction transaction, UUID claimId) {
    collections
        .bucket()
        .updateMany(
            transaction.session(),
            eq("claimId", new BsonBinary(claimId)),
            combine(
                set("leaseUntil", LONG_AGO),
                unset("claimId"),
                unset("session"),
                unset("leasedAt")));
  }

  private static Document changes(Release release) {
    Document change = new Document("leaseUntil", LONG_AGO);
    if (!release.keepsTurn()) {
      change.append("servedAt", "$$NOW");
    }
    if (release.settled()) {
      change.append("takeovers", 0);
    }
    if (release.lease().single() && release.decided() > 0) {
      change.append(
          "singles",
          new Document(
              "$max",
              List.of(0, new Document("$subtract", List.of("$singles", release.decided())))));
    }
    return change;
  }

  private static List<Integer> numbers(Collection<Lease> leases) {
    return leases.stream().map(Lease::bucket).collect(Collectors.toList());
  }

  private static int number(Document bucket) {
    return Documents.number(bucket, "_id");
  }
}
