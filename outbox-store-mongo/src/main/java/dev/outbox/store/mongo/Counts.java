package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static dev.outbox.store.mongo.OutboxCollections.IN_ANY_BUCKET;
import static dev.outbox.store.mongo.OutboxCollections.lookup;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.Projections;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Counts from indexes alone, up to a cap, and asks each bucket for its first message. Outside of
 * transactions, so the numbers are of moments close to each other. The age of a message is that of
 * its sequence, to the second; of one that was delayed, that since it has been due.
 */
record Counts(OutboxCollections collections, ClientSession session, int cap) {

  /**
   * @param now by the server's clock
   */
  Statistics read(Instant now) {
    // Those that are not adopted yet are due and free to go.
    long pending =
        of(Status.PENDING) + count(collections.message(), PlainInsertAdoption.NOT_ADOPTED);
    List<Instant> free = firsts(Status.PENDING, "seq");
    free.addAll(firsts(Status.SCHEDULED, "availableAt"));
    Document notAdopted = new PlainInsertAdoption(collections.message()).oldest(session);
    if (notAdopted != null) {
      free.add(Sequence.time(Documents.sequence(notAdopted)));
    }
    return new Statistics(
        cap,
        Math.min(cap, pending),
        of(Status.SCHEDULED),
        of(Status.BLOCKED),
        of(Status.DEAD),
        count(collections.blockedKey(), and(IN_ANY_BUCKET, gte("retryAt", new Date(0)))),
        count(collections.blockedKey(), exists("haltedBy")),
        oldest(free, now),
        oldest(firsts(Status.BLOCKED, "seq"), now),
        null);
  }

  private long of(Status status) {
    return count(collections.message(), and(eq("status", status.name()), IN_ANY_BUCKET));
  }

  private long count(MongoCollection<Document> collection, Bson which) {
    return collection.countDocuments(session, which, new CountOptions().limit(cap));
  }

  /** Since when the first message of each bucket has been due, by the order of an index. */
  private List<Instant> firsts(Status status, String order) {
    List<Instant> times = new ArrayList<>();
    collections
        .bucket()
        .aggregate(
            session,
            List.of(
                lookup(
                    collections.message(),
                    "_id",
                    "bucket",
                    List.of(
                        Aggregates.match(eq("status", status.name())),
                        Aggregates.sort(ascending(order)),
                        Aggregates.limit(1),
                        Aggregates.project(
                            Projections.fields(include(order), Projections.excludeId()))),
                    "first"),
                Aggregates.unwind("$first")))
        .forEach(
            bucket -> {
              Object time = bucket.get("first", Document.class).get(order);
              if (time instanceof BsonTimestamp sequence) {
                times.add(Sequence.time(Sequence.of(sequence)));
              } else if (time instanceof Date date) {
                times.add(date.toInstant());
              }
            });
    return times;
  }

  private static @Nullable Duration oldest(List<Instant> times, Instant now) {
    return times.stream()
        .filter(time -> !time.isAfter(now))
        .min(Comparator.naturalOrder())
        .map(first -> Duration.between(first, now))
        .orElse(null);
  }
}
