package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lte;

import com.mongodb.client.ClientSession;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import dev.outbox.spi.StatisticsStore.Statistics;
import dev.outbox.store.core.internal.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Counts from indexes alone: a backlog may be larger than what can be read in the time that a
 * transaction has. So the numbers are of moments close to each other, and the age of a message is
 * that of its sequence, to the second.
 */
final class Counts {
  private final OutboxCollections collections;
  private final ServerClock clock;
  private final Map<Status, Long> messages = new EnumMap<>(Status.class);
  private final List<Instant> oldest = new ArrayList<>();

  Counts(OutboxCollections collections, ServerClock clock) {
    this.collections = collections;
    this.clock = clock;
  }

  Statistics read(ClientSession session) {
    Instant now = clock.read();
    count(session, in("status", Stream.of(Status.values()).map(Status::name).toList()));
    count(session, Adoption.NOT_ADOPTED);
    collections
        .message()
        .aggregate(
            session,
            List.of(
                Aggregates.match(
                    and(eq("status", Status.SCHEDULED.name()), lte("availableAt", Date.from(now)))),
                Aggregates.group(null, Accumulators.min("due", "$availableAt"))))
        .forEach(scheduled -> oldest.add(scheduled.getDate("due").toInstant()));
    return new Statistics(
        messages.getOrDefault(Status.PENDING, 0L),
        messages.getOrDefault(Status.SCHEDULED, 0L),
        messages.getOrDefault(Status.BLOCKED, 0L),
        messages.getOrDefault(Status.DEAD, 0L),
        collections.blockedKey().countDocuments(session, exists("retryAt")),
        collections.blockedKey().countDocuments(session, exists("haltedBy")),
        age(now));
  }

  private void count(ClientSession session, Bson which) {
    for (Document group :
        collections
            .message()
            .aggregate(
                session,
                List.of(
                    Aggregates.match(which),
                    Aggregates.group(
                        "$status",
                        Accumulators.sum("messages", 1),
                        Accumulators.min("first", "$seq"))))) {
      // Those that are not adopted yet are due and free to go.
      String name = group.getString("_id");
      Status status = name == null ? Status.PENDING : Status.valueOf(name);
      messages.merge(status, group.get("messages", Number.class).longValue(), Long::sum);
      boolean waits = status == Status.PENDING || status == Status.BLOCKED;
      if (waits && group.get("first") instanceof BsonTimestamp first) {
        oldest.add(Sequence.time(Sequence.of(first)));
      }
    }
  }

  private @Nullable Duration age(Instant now) {
    return oldest.stream()
        .min(Comparator.naturalOrder())
        .map(first -> Duration.between(first, now))
        .orElse(null);
  }
}
