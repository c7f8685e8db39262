package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;
import static java.util.Objects.requireNonNull;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.WriteModel;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Release;
import dev.outbox.store.core.internal.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.bson.BsonBinary;
import org.bson.Document;
import org.bson.conversions.Bson;

/** What the holder of leases does with the documents of its buckets, in its transactions. */
abstract class FencedBuckets implements Leases<MongoTransaction> {
  private static final Date LONG_AGO = new Date(0);

  final OutboxCollections collections;

  FencedBuckets(OutboxCollections collections) {
    this.collections = collections;
  }

  /**
   * Writes the buckets that are still ours, so that this transaction and another one that takes
   * them over cannot both commit. A number that grows, because an update that changes nothing is no
   * write.
   */
  Set<Integer> fence(MongoTransaction transaction, UUID claimId, Collection<Integer> buckets) {
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
  void giveBack(MongoTransaction transaction, UUID claimId) {
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

  static int number(Document bucket) {
    return number(bucket, "_id");
  }

  static int number(Document bucket, String field) {
    return bucket.get(field) instanceof Number number ? number.intValue() : 0;
  }
}
