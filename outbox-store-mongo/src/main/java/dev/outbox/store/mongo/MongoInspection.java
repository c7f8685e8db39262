package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Filters.lte;
import static com.mongodb.client.model.Filters.not;
import static com.mongodb.client.model.Filters.or;
import static com.mongodb.client.model.Filters.regex;
import static com.mongodb.client.model.Filters.type;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;

import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Projections;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Database.Inspection;
import dev.outbox.store.core.internal.KeyCursor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonTimestamp;
import org.bson.BsonType;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Looks at messages and keys. No index has all messages in the order of their sequences, so a page
 * reads the front of each part that one has: those of each status, and those that are not adopted
 * yet. Where messages are filtered, it goes as far as each of the parts may be read.
 */
final class MongoInspection implements Inspection<MongoTransaction> {
  private static final Bson ANY_BUCKET =
      in("bucket", IntStream.range(0, Database.BUCKETS).boxed().toList());

  private static final Bson LISTED =
      include(
          "seq",
          "status",
          "key",
          "id",
          "aggregateType",
          "aggregateId",
          "eventType",
          "dedupKey",
          "partitionKey",
          "createdAt",
          "availableAt",
          "availableMicros",
          "expiresAt",
          "expiresMicros",
          "attempts",
          "lastError",
          "lastFailedAt");

  private final OutboxCollections collections;

  MongoInspection(OutboxCollections collections) {
    this.collections = collections;
  }

  // ---- messages

  /**
   * Messages that an index has in the order of their sequences.
   *
   * @param where they are
   * @param filters what else is asked of them
   */
  private record Part(Bson where, List<Bson> filters) {
    static Part of(Status status, Query query) {
      List<Bson> filters = plain(query);
      if (query.key() != null) {
        filters.add(eq("key", query.key()));
      }
      return new Part(and(eq("status", status.name()), ANY_BUCKET), filters);
    }

    static Part notAdopted(Query query) {
      List<Bson> filters = plain(query);
      if (query.key() != null) {
        filters.add(isKey(query.key()));
      }
      return new Part(PlainInsertAdoption.NOT_ADOPTED, filters);
    }

    static List<Part> all(Query query) {
      Status asked = query.status();
      List<Part> parts = new ArrayList<>();
      (asked == null ? Stream.of(Status.values()) : Stream.of(asked))
          .map(status -> of(status, query))
          .forEach(parts::add);
      if (asked == null || asked == Status.PENDING) {
        parts.add(notAdopted(query));
      }
      return parts;
    }
  }

  private static List<Bson> plain(Query query) {
    List<Bson> filters = new ArrayList<>();
    add(filters, "aggregateType", query.aggregateType());
    add(filters, "eventType", query.eventType());
    add(filters, "id", query.id() == null ? null : Uuids.binary(query.id()));
    add(filters, "dedupKey", query.dedupKey());
    if (query.error() != null) {
      filters.add(regex("lastError", query.error().replaceAll("[^\\p{L}\\p{N}\\s]", "\\\\$0")));
    }
    if (query.appendedBefore() != null) {
      filters.add(isBefore(query.appendedBefore()));
    }
    return filters;
  }

  private static void add(List<Bson> filters, String field, @Nullable Object value) {
    if (value != null) {
      filters.add(eq(field, value));
    }
  }

  /** What says not when it was appended has its sequence, which is a time. */
  private static Bson isBefore(Instant time) {
    return or(
        lt("createdAt", Documents.roundedUp(time)),
        and(
            not(type("createdAt", BsonType.DATE_TIME)),
            lt("seq", new BsonTimestamp((int) time.getEpochSecond(), 0))));
  }

  /** As {@link Documents#keyOf}: the slash may be any of those in the key. */
  private static Bson isKey(String key) {
    List<Bson> keys = new ArrayList<>();
    keys.add(eq("partitionKey", key));
    for (int i = key.indexOf('/'); i >= 0; i = key.indexOf('/', i + 1)) {
      keys.add(
          and(
              eq("partitionKey", null),
              eq("aggregateType", key.substring(0, i)),
              eq("aggregateId", key.substring(i + 1))));
    }
    return or(keys);
  }

  @Override
  public Page<Listed> messages(MongoTransaction transaction, Query query) {
    ClientSession session = transaction.session(); // one snapshot: they go from part to part
    List<Part> parts = Part.all(query);
    Bson after = gt("seq", timestamp(query.afterSequence()));
    boolean isFiltered = !parts.get(0).filters().isEmpty();
    OptionalLong end = isFiltered ? end(session, parts, after) : OptionalLong.empty();
    Bson range =
        end.isPresent() ? and(after, lte("seq", Sequence.timestamp(end.getAsLong()))) : after;
    List<Document> read =
        parts.stream()
            .flatMap(part -> read(session, part, range, query.limit()).stream())
            .sorted(Comparator.comparing(Documents::sequence))
            .limit(query.limit())
            .toList();
    List<Listed> found = listed(session, read);
    OptionalLong next =
        found.size() == query.limit()
            ? OptionalLong.of(found.get(found.size() - 1).sequence())
            : end;
    return new Page<>(found, next.isPresent() ? Long.toString(next.getAsLong()) : null);
  }

  private static BsonTimestamp timestamp(long after) {
    return after == 0 ? new BsonTimestamp() : Sequence.timestamp(after);
  }

  /** The last sequence that this page may read: of the part that comes least far. */
  private OptionalLong end(ClientSession session, List<Part> parts, Bson after) {
    int each = InspectionStore.MOST_READ / parts.size();
    return parts.stream()
        .map(
            part ->
                find(session, part.where(), after)
                    .skip(each - 1)
                    .limit(1)
                    .projection(Projections.fields(include("seq"), Projections.excludeId()))
                    .first())
        .filter(Objects::nonNull)
        .mapToLong(Documents::sequence)
        .min();
  }

  private List<Document> read(ClientSession session, Part part, Bson range, int limit) {
    List<Bson> all = new ArrayList<>(part.filters());
    all.add(range);
    return find(session, part.where(), and(all))
        .limit(limit)
        .projection(LISTED)
        .into(new ArrayList<>());
  }

  private FindIterable<Document> find(ClientSession session, Bson where, Bson range) {
    return collections.message().find(session, and(where, range)).sort(ascending("seq"));
  }

  private List<Listed> listed(ClientSession session, List<Document> messages) {
    Set<Object> halting =
        MongoAdministration.halting(
            collections,
            session,
            messages.stream().filter(message -> status(message) == Status.DEAD).toList());
    return messages.stream()
        .map(message -> listed(message, halting.contains(message.get("seq"))))
        .toList();
  }

  private static Status status(Document message) {
    Object status = message.get("status");
    return status == null ? Status.PENDING : Status.valueOf(status.toString());
  }

  private static Listed listed(Document message, boolean haltsKey) {
    long sequence = Documents.sequence(message);
    UUID id = Uuids.of(message.get("id"));
    return new Listed(
        sequence,
        String.valueOf(id == null ? message.get("id") : id),
        status(message),
        Documents.key(message),
        text(message, "aggregateType"),
        text(message, "eventType"),
        text(message, "dedupKey"),
        Documents.attempts(message),
        message.get("createdAt") instanceof Date date ? date.toInstant() : Sequence.time(sequence),
        Documents.time(message),
        Documents.expiresAt(message),
        Documents.lastError(message),
        message.get("lastFailedAt") instanceof Date date ? date.toInstant() : null,
        haltsKey);
  }

  private static @Nullable String text(Document message, String field) {
    return message.get(field) instanceof String text ? text : null;
  }

  @Override
  public Optional<Inspected> message(MongoTransaction transaction, long sequence) {
    ClientSession session = transaction.session();
    List<String> statuses = Stream.of(Status.values()).map(Status::name).toList();
    return Stream.of(and(in("status", statuses), ANY_BUCKET), PlainInsertAdoption.NOT_ADOPTED)
        .map(where -> and(where, eq("seq", Sequence.timestamp(sequence))))
        .map(where -> collections.message().find(session, where).first())
        .filter(Objects::nonNull)
        .findFirst()
        .map(
            found ->
                Inspected.of(
                    listed(session, List.of(found)).get(0),
                    Documents.message(found),
                    keys(session, eq("_id", Documents.key(found)), "_id", 1).stream()
                        .map(MongoInspection::waiting)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null)));
  }

  // ---- keys

  @Override
  public Page<WaitingKey> waitingKeys(
      MongoTransaction transaction, boolean halted, @Nullable String after, int limit) {
    KeyCursor cursor = KeyCursor.of(after);
    List<Document> keys =
        halted
            ? keys(
                transaction.beforehand(),
                gt("haltedBy", timestamp(Math.max(0, cursor.behind()))),
                "haltedBy",
                limit)
            : keys(transaction.beforehand(), gt("_id", cursor.key()), "_id", limit);
    return new Page<>(
        keys.stream().map(MongoInspection::waiting).filter(Objects::nonNull).toList(),
        keys.size() == limit ? cursor(keys.get(limit - 1)).toString() : null);
  }

  private static KeyCursor cursor(Document key) {
    return new KeyCursor(
        0,
        key.get("haltedBy") instanceof BsonTimestamp by ? Sequence.of(by) : 0,
        key.getString("_id"));
  }

  /** Keys in the order of a field, with what they wait for and how many wait. */
  private List<Document> keys(ClientSession session, Bson which, String order, int limit) {
    return collections
        .blockedKey()
        .aggregate(
            session,
            List.of(
                Aggregates.match(which),
                Aggregates.sort(ascending(order)),
                Aggregates.limit(limit),
                blocked(
                    List.of(
                        Aggregates.sort(ascending("seq")),
                        Aggregates.limit(1),
                        Aggregates.project(include("seq", "attempts", "lastError"))),
                    "head"),
                blocked(
                    List.of(
                        Aggregates.limit(InspectionStore.MOST_BEHIND + 1), Aggregates.count("n")),
                    "counted"),
                OutboxCollections.lookup(
                    collections.message(),
                    "haltedBy",
                    "seq",
                    List.of(
                        Aggregates.match(eq("status", Status.DEAD.name())),
                        Aggregates.limit(1),
                        Aggregates.project(include("seq", "attempts", "lastError"))),
                    "letter")))
        .into(new ArrayList<>());
  }

  private Bson blocked(List<Bson> stages, String as) {
    List<Bson> all = new ArrayList<>();
    all.add(
        Aggregates.match(and(eq("status", Status.BLOCKED.name()), FetchedMessages.HAS_SEQUENCE)));
    all.addAll(stages);
    return OutboxCollections.lookup(collections.message(), "_id", "key", all, as);
  }

  /** Null: no message of it is BLOCKED. */
  private static @Nullable WaitingKey waiting(Document key) {
    boolean halted = key.get("haltedBy") != null;
    Document none = new Document();
    Document head = first(key, "head").orElse(none);
    Document behind = halted ? first(key, "letter").orElse(none) : head;
    int blocked = first(key, "counted").orElse(none).get("n", 0);
    if (!halted && head.isEmpty()) {
      return null;
    }
    return new WaitingKey(
        key.getString("_id"),
        halted ? Sequence.of(key.get("haltedBy", BsonTimestamp.class)) : Documents.sequence(head),
        halted,
        !halted && key.get("retryAt") instanceof Date date ? date.toInstant() : null,
        Math.min(InspectionStore.MOST_BEHIND, halted ? blocked : blocked - 1),
        Documents.attempts(behind),
        Documents.lastError(behind));
  }

  private static Optional<Document> first(Document key, String field) {
    return key.getList(field, Document.class).stream().findFirst();
  }
}
