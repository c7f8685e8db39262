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
import static com.mongodb.client.model.Projections.excludeId;
import static com.mongodb.client.model.Projections.fields;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static dev.outbox.store.mongo.Documents.textOrNull;
import static dev.outbox.store.mongo.Documents.timeOrNull;
import static dev.outbox.store.mongo.OutboxCollections.IN_ANY_BUCKET;
import static dev.outbox.store.mongo.OutboxCollections.add;
import static dev.outbox.store.mongo.OutboxCollections.lookup;

import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.model.Aggregates;
import dev.outbox.spi.store.InspectionStore;
import dev.outbox.spi.store.InspectionStore.Inspected;
import dev.outbox.spi.store.InspectionStore.Listed;
import dev.outbox.spi.store.InspectionStore.Page;
import dev.outbox.spi.store.InspectionStore.Query;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.spi.store.InspectionStore.WaitingKey;
import dev.outbox.store.core.internal.Inspection;
import dev.outbox.store.core.internal.KeyCursor;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.bson.BsonBinary;
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
record MongoInspection(OutboxCollections collections) implements Inspection<MongoTransaction> {
  private static final Bson LISTED =
      fields(include(Documents.METADATA), include("status", "lastFailedAt"));

  /** Of a timestamp, whose seconds have no sign: in the year 2106. */
  private static final long MOST_SECONDS = 0xFFFF_FFFFL;

  // ---- messages

  /**
   * Messages that an index has in the order of their sequences.
   *
   * @param where they are
   * @param filters what else is asked of them
   */
  private record Part(Bson where, List<Bson> filters) {
    static List<Part> all(Query query) {
      Status asked = query.status();
      List<Part> parts = new ArrayList<>();
      for (Status status : asked == null ? List.of(Status.values()) : List.of(asked)) {
        parts.add(
            new Part(
                and(eq("status", status.name()), IN_ANY_BUCKET),
                conditions(query, key -> eq("key", key))));
      }
      if (asked == null || asked == Status.PENDING) {
        parts.add(
            new Part(PlainInsertAdoption.NOT_ADOPTED, conditions(query, MongoInspection::isKey)));
      }
      return parts;
    }
  }

  private static List<Bson> conditions(Query query, Function<String, Bson> isKey) {
    List<Bson> filters = new ArrayList<>();
    add(filters, "aggregateType", query.aggregateType());
    add(filters, "eventType", query.eventType());
    add(filters, "id", query.id() == null ? null : new BsonBinary(query.id()));
    add(filters, "dedupKey", query.dedupKey());
    if (query.error() != null) {
      filters.add(regex("lastError", query.error().replaceAll("[^\\p{L}\\p{N}\\s]", "\\\\$0")));
    }
    if (query.appendedBefore() != null) {
      filters.add(isBefore(query.appendedBefore()));
    }
    if (query.key() != null) {
      filters.add(isKey.apply(query.key()));
    }
    return filters;
  }

  /** What says not when it was appended has its sequence, which is a time. */
  private static Bson isBefore(Instant time) {
    long seconds = Math.max(0, Math.min(MOST_SECONDS, time.getEpochSecond()));
    return or(
        lt("createdAt", Documents.roundedUp(time)),
        and(
            not(type("createdAt", BsonType.DATE_TIME)),
            lt("seq", new BsonTimestamp((int) seconds, 0))));
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
    Bson after = gt("seq", Sequence.after(query.afterSequence()));
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

  /** The last sequence that this page may read: of the part that comes least far. */
  private OptionalLong end(ClientSession session, List<Part> parts, Bson after) {
    int each = InspectionStore.MOST_READ / parts.size();
    return parts.stream()
        .map(
            part ->
                find(session, part.where(), after)
                    .skip(each - 1)
                    .limit(1)
                    .projection(fields(include("seq"), excludeId()))
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
        collections.halting(
            session, messages.stream().filter(message -> status(message) == Status.DEAD).toList());
    return messages.stream()
        .map(message -> listed(message, halting.contains(message.get("seq"))))
        .toList();
  }

  private static Status status(Document message) {
    Object status = message.get("status");
    return status == null ? Status.PENDING : Status.valueOf(status.toString());
  }

  private static Listed listed(Document message, boolean haltsKey) {
    return new Listed(
        Documents.sequence(message),
        Documents.id(message),
        status(message),
        Documents.key(message),
        textOrNull(message, "aggregateType"),
        textOrNull(message, "eventType"),
        textOrNull(message, "dedupKey"),
        Documents.attempts(message),
        Documents.createdAt(message),
        Documents.time(message),
        Documents.expiresAt(message),
        textOrNull(message, "lastError"),
        timeOrNull(message, "lastFailedAt"),
        haltsKey);
  }

  @Override
  public Optional<Inspected> message(MongoTransaction transaction, long sequence) {
    ClientSession session = transaction.session();
    List<String> statuses = Stream.of(Status.values()).map(Status::name).toList();
    return Stream.of(and(in("status", statuses), IN_ANY_BUCKET), PlainInsertAdoption.NOT_ADOPTED)
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
                gt("haltedBy", Sequence.after(Math.max(0, cursor.behind()))),
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
                lookup(
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
    return lookup(collections.message(), "_id", "key", all, as);
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
        halted ? null : timeOrNull(key, "retryAt"),
        Math.min(InspectionStore.MOST_BEHIND, halted ? blocked : blocked - 1),
        Documents.attempts(behind),
        textOrNull(behind, "lastError"));
  }

  private static Optional<Document> first(Document key, String field) {
    return key.getList(field, Document.class).stream().findFirst();
  }
}
