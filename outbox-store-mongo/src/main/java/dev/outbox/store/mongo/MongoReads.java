package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lte;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static dev.outbox.store.mongo.OutboxCollections.lookup;

import com.mongodb.client.model.Aggregates;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ReadBudget;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.ToMove;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Reads the first messages of leased buckets. One command asks all buckets, each for its own first
 * ones: a {@code $lookup} from the documents of the buckets ({@code $unionWith} is not allowed in a
 * transaction). What is large comes as its size first, and is fetched when there is room for it.
 */
record MongoReads(OutboxCollections collections, PlainInsertAdoption adoption)
    implements Reads<MongoTransaction> {

  @Override
  public Pending readPending(MongoTransaction transaction, List<Lease> leases, Limits limits) {
    long end = adoption.end(transaction.session());
    Bson pending = and(eq("status", Status.PENDING.name()), FetchedMessages.HAS_SEQUENCE);
    List<Found> found = first(transaction, leases, limits, pending, ascending("seq"));
    return new Pending(rows(transaction, Status.PENDING, end, limits, leases, found), leases);
  }

  @Override
  public List<Row> readBlocked(MongoTransaction transaction, List<Lease> leases, Limits limits) {
    return new BlockedReads(collections, adoption).read(transaction, leases, limits);
  }

  @Override
  public List<Row> readScheduled(MongoTransaction transaction, List<Lease> leases, Limits limits) {
    Bson due =
        and(
            eq("status", Status.SCHEDULED.name()),
            lte("availableAt", transaction.now()),
            FetchedMessages.HAS_SEQUENCE);
    List<Found> found = first(transaction, leases, limits, due, ascending("availableAt", "seq"));
    return rows(transaction, Status.SCHEDULED, Long.MAX_VALUE, limits, leases, found);
  }

  /** A message as it was found: whole when it is small, and with the number of its bucket. */
  private record Found(Document message, long size, boolean anyBlocked) {}

  /** The largest message that comes whole. */
  private static long small(Limits limits) {
    return limits.bytes() / limits.messages();
  }

  /** The first messages of each bucket: which of them there are, in which order. */
  private List<Found> first(
      MongoTransaction transaction, List<Lease> leases, Limits limits, Bson which, Bson order) {
    List<Bson> first =
        List.of(
            Aggregates.match(which), Aggregates.sort(order), Aggregates.limit(limits.messages()));
    List<Found> found = new ArrayList<>();
    collections
        .bucket()
        .aggregate(
            transaction.session(),
            List.of(
                Aggregates.match(in("_id", leases.stream().map(Lease::bucket).toList())),
                lookup(
                    collections.blockedKey(),
                    "_id",
                    "bucket",
                    List.of(Aggregates.limit(1), Aggregates.project(include("_id"))),
                    "blocked"),
                lookup(collections.message(), "_id", "bucket", first, "m"),
                Aggregates.unwind("$m"),
                Aggregates.project(
                    new Document("m", smallOrStub(small(limits)))
                        .append("size", SIZE)
                        .append("blocked", new Document("$ne", List.of("$blocked", List.of()))))))
        .batchSize(Integer.MAX_VALUE)
        .forEach(
            row ->
                found.add(
                    new Found(
                        row.get("m", Document.class).append("bucket", row.getInteger("_id")),
                        row.get("size", Number.class).longValue(),
                        row.getBoolean("blocked"))));
    return found;
  }

  private static final Document SIZE = new Document("$bsonSize", "$m");

  /** What is needed of a message that is not whole. */
  private static final Document STUB =
      new Document("_id", "$m._id")
          .append("seq", "$m.seq")
          .append("key", "$m.key")
          .append("availableAt", "$m.availableAt");

  private static Document smallOrStub(long bytes) {
    return new Document("$cond", List.of(new Document("$lte", List.of(SIZE, bytes)), "$m", STUB));
  }

  /**
   * As many messages of each bucket as fit; those to be moved are only named.
   *
   * @param end sequences from here on are left for later
   */
  private List<Row> rows(
      MongoTransaction transaction,
      Status status,
      long end,
      Limits limits,
      List<Lease> leases,
      List<Found> found) {
    Set<String> blocked = blockedKeys(transaction, found);
    ReadBudget room = new ReadBudget(leases, limits);
    List<Row> rows = new ArrayList<>();
    List<Document> chosen = new ArrayList<>();
    List<Document> toFetch = new ArrayList<>();
    for (Found one : found) {
      Document message = one.message();
      Status target = target(message, blocked, transaction.now(), status);
      if (Documents.sequence(message) >= end) {
        continue;
      }
      if (target != null) {
        rows.add(
            new ToMove(
                message.getInteger("bucket"),
                Documents.sequence(message),
                Documents.key(message),
                status,
                FetchedMessages.id(message),
                target));
      } else if (transaction.isFirst(Documents.sequence(message))
          && room.take(message.getInteger("bucket"), one.size())) {
        chosen.add(message);
        if (one.size() > small(limits)) {
          toFetch.add(message);
        }
      }
    }
    rows.addAll(new FetchedMessages(collections).claimable(transaction, status, chosen, toFetch));
    return rows;
  }

  private static @Nullable Status target(
      Document message, Set<String> blocked, Date now, Status status) {
    if (status == Status.PENDING
        && message.get("availableAt") instanceof Date due
        && due.after(now)) {
      return Status.SCHEDULED;
    }
    return blocked.contains(Documents.key(message)) ? Status.BLOCKED : null;
  }

  /** Which of the messages' keys are blocked; not asked where their buckets have none. */
  private Set<String> blockedKeys(MongoTransaction transaction, List<Found> found) {
    Set<String> keys =
        found.stream()
            .filter(Found::anyBlocked)
            .map(one -> Documents.key(one.message()))
            .collect(Collectors.toSet());
    Set<String> blocked = new HashSet<>();
    if (!keys.isEmpty()) {
      collections
          .blockedKey()
          .find(transaction.session(), in("_id", keys))
          .projection(include("_id"))
          .forEach(key -> blocked.add(key.getString("_id")));
    }
    return blocked;
  }
}
