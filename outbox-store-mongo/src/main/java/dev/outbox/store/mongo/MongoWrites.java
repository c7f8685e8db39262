package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.client.ClientSession;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Field;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Block;
import dev.outbox.store.core.internal.Database.Failure;
import dev.outbox.store.core.internal.Database.Key;
import dev.outbox.store.core.internal.Database.Writes;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.core.internal.Row.OfMessage;
import dev.outbox.store.core.internal.Row.ToMove;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * What becomes of messages and keys. Messages are known by {@code _id}, and asked for by nothing
 * else beside it: with a status the server might plan to read all messages that have it.
 */
record MongoWrites(OutboxCollections collections, MongoArchive archive)
    implements Writes<MongoTransaction> {

  @Override
  public void move(MongoTransaction transaction, Collection<ToMove> rows) {
    for (Status target : List.of(Status.BLOCKED, Status.SCHEDULED)) {
      List<ToMove> moved = rows.stream().filter(row -> row.target() == target).toList();
      if (!moved.isEmpty()) {
        collections
            .message()
            .updateMany(transaction.session(), in("_id", ids(moved)), set("status", target.name()));
      }
    }
  }

  @Override
  public void count(MongoTransaction transaction, Collection<Claimable> rows, int by) {
    Document attempts = new Document("$ifNull", List.of("$attempts", 0));
    Document counted =
        new Document(
            "$max",
            List.of(
                0,
                new Document(
                    "$add",
                    List.of(new Document("$min", List.of(attempts, Integer.MAX_VALUE - 1)), by))));
    collections
        .message()
        .updateMany(
            transaction.session(),
            in("_id", ids(rows)),
            List.of(Aggregates.set(new Field<>("attempts", new Document("$toInt", counted)))));
  }

  @Override
  public boolean archives() {
    return archive.isKept();
  }

  @Override
  public List<Lease> delete(
      MongoTransaction transaction, Collection<Lease> leases, Collection<Claimable> delivered) {
    archive.delivered(transaction, delivered);
    return List.copyOf(leases);
  }

  static List<Object> ids(Collection<? extends OfMessage> rows) {
    return rows.stream().map(OfMessage::id).toList();
  }

  /** Asked first which are as they were claimed; what changes meanwhile is a write conflict. */
  @Override
  public Set<Long> fail(MongoTransaction transaction, List<Failure> failures) {
    Map<Object, Document> found = new HashMap<>();
    collections
        .message()
        .find(transaction.session(), in("_id", ids(failures.stream().map(Failure::row).toList())))
        .projection(include("attempts", "status", "availableAt", "availableMicros"))
        .forEach(message -> found.put(message.get("_id"), message));
    Set<Long> changed = new HashSet<>();
    List<WriteModel<Document>> updates = new ArrayList<>();
    for (Failure failure : failures) {
      Document now = found.get(failure.row().id());
      if (now != null
          && Documents.attempts(now) == failure.attempts()
          && Objects.equals(Documents.time(now), failure.row().availableAt())
          && !Status.DEAD.name().equals(now.getString("status"))) {
        changed.add(failure.row().sequence());
        updates.add(
            new UpdateOneModel<>(
                eq("_id", failure.row().id()),
                combine(
                    set("status", failure.status().name()),
                    set("attempts", failure.attemptsAfter()),
                    set("lastError", failure.error()),
                    set("lastFailedAt", transaction.now()))));
      }
    }
    if (!updates.isEmpty()) {
      collections.message().bulkWrite(transaction.session(), updates);
    }
    return changed;
  }

  /** A key that is halted stays so. */
  @Override
  public void block(MongoTransaction transaction, List<Block> blocks) {
    List<WriteModel<Document>> updates = new ArrayList<>();
    for (Block block : blocks) {
      Document fields = new Document("bucket", block.bucket());
      if (block.halted()) {
        fields
            .append("haltedBy", Sequence.timestamp(block.sequence()))
            .append("retryAt", "$$REMOVE");
      } else {
        Date retryAt = new Date(transaction.now().getTime() + block.delay().toMillis());
        Document halted = new Document("$gt", List.of("$haltedBy", new BsonTimestamp()));
        fields.append("retryAt", new Document("$cond", List.of(halted, "$$REMOVE", retryAt)));
      }
      updates.add(
          new UpdateOneModel<>(
              eq("_id", block.key()),
              List.of(new Document("$set", fields)),
              new UpdateOptions().upsert(true)));
    }
    collections.blockedKey().bulkWrite(transaction.session(), updates);
  }

  /** Nothing says where a blocked key begins: its index does. */
  @Override
  public void lower(MongoTransaction transaction, List<Key> keys) {}

  @Override
  public void advance(MongoTransaction transaction, Collection<Key> keys) {
    ClientSession session = transaction.session();
    List<String> names = keys.stream().map(Key::key).toList();
    Set<String> waiting =
        collections
            .message()
            .distinct(
                session,
                "key",
                and(eq("status", Status.BLOCKED.name()), in("key", names)),
                String.class)
            .into(new HashSet<>());
    List<String> free = names.stream().filter(key -> !waiting.contains(key)).toList();
    if (!waiting.isEmpty()) {
      collections
          .blockedKey()
          .updateMany(session, notHalted(waiting), set("retryAt", transaction.now()));
    }
    if (!free.isEmpty()) {
      collections.blockedKey().deleteMany(session, notHalted(free));
    }
  }

  private static Bson notHalted(Collection<String> keys) {
    return and(in("_id", keys), exists("retryAt"));
  }
}
