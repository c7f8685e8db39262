package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.lte;
import static com.mongodb.client.model.Sorts.ascending;
import static dev.outbox.store.mongo.OutboxCollections.lookup;

import com.mongodb.client.model.Aggregates;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.ReadBudget;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.EmptyKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.conversions.Bson;

/** Reads blocked keys whose time has come: first without content, then what there is room for. */
record BlockedReads(OutboxCollections collections, PlainInsertAdoption adoption) {

  /** Its messages, the head first, without their content; none when nothing waits any more. */
  private record DueKey(int bucket, String key, List<Document> messages) {
    boolean goesOn() {
      return !messages.isEmpty() && messages.get(0).get("lastFailedAt") == null;
    }
  }

  List<Row> read(MongoTransaction transaction, List<Lease> leases, Limits limits) {
    long end = adoption.end(transaction.session());
    List<DueKey> due = withFollowers(transaction, heads(transaction, leases, limits), limits);
    ReadBudget room = new ReadBudget(leases, limits);
    List<Row> rows = new ArrayList<>();
    List<Document> chosen = new ArrayList<>();
    for (DueKey key : due) {
      if (key.messages().isEmpty()) {
        rows.add(new EmptyKey(key.bucket(), 0, key.key()));
      }
      for (Document message : key.messages()) {
        if (Documents.sequence(message) >= end
            || !transaction.isFirst(Documents.sequence(message))
            || !room.take(key.bucket(), message.get("size", Number.class).longValue())) {
          break;
        }
        chosen.add(message.append("bucket", key.bucket()).append("key", key.key()));
      }
    }
    rows.addAll(
        new FetchedMessages(collections).claimable(transaction, Status.BLOCKED, chosen, chosen));
    return rows;
  }

  private List<DueKey> heads(MongoTransaction transaction, List<Lease> leases, Limits limits) {
    List<DueKey> heads = new ArrayList<>();
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
                    List.of(
                        Aggregates.match(lte("retryAt", transaction.now())),
                        Aggregates.sort(ascending("retryAt")),
                        Aggregates.limit(limits.messages())),
                    "due"),
                Aggregates.unwind("$due"),
                waiting("due._id", 1)))
        .forEach(
            found ->
                heads.add(
                    new DueKey(
                        found.getInteger("_id"),
                        found.get("due", Document.class).getString("_id"),
                        found.getList("messages", Document.class))));
    return heads;
  }

  /** Where the head has not failed, those behind it come along: a fair part for each key. */
  private List<DueKey> withFollowers(
      MongoTransaction transaction, List<DueKey> heads, Limits limits) {
    Map<Integer, Long> keys =
        heads.stream().collect(Collectors.groupingBy(DueKey::bucket, Collectors.counting()));
    Map<String, Integer> going = new HashMap<>();
    for (DueKey head : heads) {
      int part = (int) (limits.messages() / keys.getOrDefault(head.bucket(), 1L));
      if (head.goesOn() && part > 1) {
        going.put(head.key(), part);
      }
    }
    if (going.isEmpty()) {
      return heads;
    }
    int most = going.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
    Map<String, List<Document>> followed = new HashMap<>();
    collections
        .blockedKey()
        .aggregate(
            transaction.session(),
            List.of(Aggregates.match(in("_id", going.keySet())), waiting("_id", most)))
        .forEach(
            key -> followed.put(key.getString("_id"), key.getList("messages", Document.class)));
    return heads.stream()
        .map(
            head ->
                new DueKey(
                    head.bucket(),
                    head.key(),
                    followed.getOrDefault(head.key(), head.messages()).stream()
                        .limit(going.getOrDefault(head.key(), 1))
                        .toList()))
        .toList();
  }

  /**
   * The first BLOCKED messages of a key, without their content. All are in one document, which has
   * room for the largest batch as long as each of them is small.
   */
  private Bson waiting(String key, int most) {
    return lookup(
        collections.message(),
        key,
        "key",
        List.of(
            Aggregates.match(
                and(eq("status", Status.BLOCKED.name()), FetchedMessages.HAS_SEQUENCE)),
            Aggregates.sort(ascending("seq")),
            Aggregates.limit(most),
            Aggregates.project(
                new Document("seq", 1)
                    .append("lastFailedAt", 1)
                    .append("size", new Document("$bsonSize", "$$ROOT")))),
        "messages");
  }
}
