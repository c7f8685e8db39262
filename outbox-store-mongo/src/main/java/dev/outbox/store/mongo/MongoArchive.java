package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Projections.fields;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static dev.outbox.store.mongo.OutboxCollections.add;
import static java.util.Objects.requireNonNull;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.outbox.Archive;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.ArchiveStore.Action;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Entry;
import dev.outbox.spi.store.ArchiveStore.Outcome;
import dev.outbox.spi.store.ArchiveStore.Position;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.store.core.internal.Administration.Noted;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.Row.Claimable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.bson.BsonBinary;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.bson.types.MaxKey;
import org.jspecify.annotations.Nullable;

/**
 * The archive and the audit, whose documents {@link MongoOutboxStore} shows. A message is found,
 * copied and deleted in one transaction, so what is copied is what that transaction deletes: what
 * another one changes meanwhile is a write conflict.
 */
final class MongoArchive {
  private static final int WRITE_CONFLICT = 112;

  /** What is copied; not what others may have put beside it. */
  private static final Bson METADATA = include(Documents.METADATA);

  private static final Bson FULL = fields(METADATA, include("payload", "headers"));

  private final Archive kept;
  private final MongoDatabase database;
  private final MongoCollection<Document> messages;
  private final MongoCollection<Document> archived;
  private final MongoCollection<Document> audit;
  private final MongoClient client;
  private final PrefixedNames names;

  /**
   * @param names the outbox's
   * @param kept who keeps none may look at what there is
   */
  MongoArchive(MongoClient client, String database, PrefixedNames names, Archive kept) {
    this.kept = kept;
    this.database = OutboxCollections.in(client, database);
    messages = this.database.getCollection(names.table("message"));
    archived = this.database.getCollection(names.table("archive_message"));
    audit = this.database.getCollection(names.table("archive_audit"));
    this.client = client;
    this.names = names;
  }

  /**
   * What the server's clock says.
   *
   * @throws SchemaException when the archive is missing or of another version
   */
  private Instant now() {
    try {
      return new Schema(client, database.getName(), CollectionKind.ARCHIVE, names.archive()).now();
    } catch (IllegalArgumentException e) {
      throw new SchemaException("there is no archive: " + e.getMessage(), e);
    }
  }

  boolean isKept() {
    return kept != Archive.NONE;
  }

  // ---- what leaves

  /** In a transaction that has asked for the time; all that leaves in it has the same. */
  void delivered(MongoTransaction transaction, Collection<Claimable> delivered) {
    if (!isKept()) {
      delete(transaction, MongoWrites.ids(delivered));
      return;
    }
    Map<Object, Claimable> byId = new HashMap<>();
    delivered.forEach(row -> byId.put(row.id(), row));
    move(
        transaction,
        byId.keySet(),
        Outcome.DELIVERED,
        transaction.now(),
        message -> {
          Claimable row = requireNonNull(byId.get(message.get("_id", Object.class)));
          message.append("attempts", row.message().attempts()).remove("lastError");
          if (row.answer() != null) {
            message.append("answer", row.answer());
          }
        });
  }

  /** What is not delivered. */
  void removed(MongoTransaction transaction, Collection<Object> ids, Outcome outcome) {
    if (isKept()) {
      move(transaction, ids, outcome, Date.from(now()), message -> {});
    } else {
      delete(transaction, ids);
    }
  }

  private long delete(MongoTransaction transaction, Collection<Object> ids) {
    return messages.deleteMany(transaction.session(), in("_id", ids)).getDeletedCount();
  }

  private void move(
      MongoTransaction transaction,
      Collection<Object> ids,
      Outcome outcome,
      Date at,
      Consumer<Document> change) {
    ClientSession session = transaction.session();
    List<Document> leaving =
        messages
            .find(session, in("_id", ids))
            .projection(kept == Archive.FULL ? FULL : METADATA)
            .batchSize(ids.size())
            .into(new ArrayList<>());
    if (leaving.isEmpty()) {
      return;
    }
    List<Object> there = leaving.stream().map(message -> message.get("_id", Object.class)).toList();
    for (Document message : leaving) {
      change.accept(message);
      leave(message, outcome, at);
    }
    archived.insertMany(session, leaving);
    long deleted = delete(transaction, there);
    if (deleted != there.size()) {
      throw conflict(deleted, there.size());
    }
  }

  /** In the order in which they leave, by the index that each collection has. */
  private static void leave(Document message, Outcome outcome, Date at) {
    Document place = place(at).append("seq", message.get("seq")).append("of", message.get("_id"));
    message.append("_id", place).append("archivedAt", at).append("outcome", outcome.name());
  }

  private static Document place(Date at) {
    return new Document("at", at);
  }

  /** A snapshot does not allow it; a server that shows something else is not believed. */
  private static MongoException conflict(long deleted, int found) {
    MongoException conflict =
        new MongoException(
            WRITE_CONFLICT,
            "%s messages were deleted of %s that were archived".formatted(deleted, found));
    conflict.addLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
    return conflict;
  }

  // ---- looking

  /** Outside of transactions, since it may take longer than one may last. */
  List<Archived> archived(MongoTransaction transaction, Search search, int limit) {
    Instant ignored = now();
    List<Bson> all = new ArrayList<>();
    all.add(gte("_id", place(Documents.roundedUp(search.from()))));
    all.add(lt("_id", place(Documents.roundedUp(search.to()))));
    add(all, "key", search.key());
    add(all, "aggregateType", search.aggregateType());
    add(all, "aggregateId", search.aggregateId());
    add(all, "eventType", search.eventType());
    add(all, "id", search.id() == null ? null : new BsonBinary(search.id()));
    add(all, "outcome", search.outcome() == null ? null : search.outcome().name());
    Position after = search.after();
    if (after != null) {
      all.add(
          gt(
              "_id",
              place(Date.from(after.at()))
                  .append("seq", Sequence.timestamp(after.sequence()))
                  .append("of", new MaxKey())));
    }
    List<Archived> found = new ArrayList<>();
    archived
        .withReadConcern(ReadConcern.MAJORITY)
        .find(transaction.beforehand(), and(all))
        .sort(ascending("_id"))
        .limit(limit)
        .forEach(message -> found.add(archived(message)));
    return found;
  }

  private static Archived archived(Document message) {
    boolean whole = message.containsKey("payload");
    if (!whole) {
      message.append("payload", new Binary(new byte[0]));
    }
    return new Archived(
        Documents.message(message),
        whole,
        message.getDate("archivedAt").toInstant(),
        Outcome.valueOf(message.getString("outcome")),
        message.getString("answer"),
        Documents.textOrNull(message, "lastError"));
  }

  // ---- the audit

  void note(MongoTransaction transaction, Action action, Who by, List<Noted> messages) {
    if (messages.isEmpty()) {
      return;
    }
    Date now = Date.from(now());
    String user = user();
    audit.insertMany(
        transaction.session(),
        messages.stream().map(noted -> entry(now, action, by, user, noted)).toList());
  }

  private static Document entry(
      Date now, Action action, Who by, @Nullable String user, Noted noted) {
    Document entry =
        new Document("notedAt", now)
            .append("action", action.name())
            .append("who", by.name())
            .append("user", user)
            .append("reason", by.reason())
            .append("seq", Sequence.timestamp(noted.sequence()))
            .append("messageId", noted.id());
    entry.values().removeIf(value -> value == null);
    return entry;
  }

  /** As whom this client is connected, with the database that knows that user; or null. */
  private @Nullable String user() {
    Document status;
    try {
      status = database.runCommand(new Document("connectionStatus", 1));
    } catch (MongoCommandException e) {
      return null; // everybody may ask, but not every server that is like MongoDB knows
    }
    List<Document> users =
        status
            .get("authInfo", new Document())
            .getList("authenticatedUsers", Document.class, List.of());
    return users.isEmpty()
        ? null
        : users.stream()
            .map(user -> user.getString("user") + "@" + user.getString("db"))
            .collect(Collectors.joining(", "));
  }

  List<Entry> audit(MongoTransaction transaction, Instant from, int limit) {
    Instant ignored = now();
    List<Entry> entries = new ArrayList<>();
    audit
        .withReadConcern(ReadConcern.MAJORITY)
        .find(transaction.beforehand(), gte("notedAt", Documents.roundedUp(from)))
        .sort(ascending("notedAt", "_id"))
        .limit(limit)
        .forEach(
            entry ->
                entries.add(
                    new Entry(
                        entry.getDate("notedAt").toInstant(),
                        Action.valueOf(entry.getString("action")),
                        entry.getString("who"),
                        entry.getString("reason"),
                        Sequence.of(entry.get("seq", BsonTimestamp.class)),
                        entry.getString("messageId"))));
    return entries;
  }
}
