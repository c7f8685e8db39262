package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.gte;
import static com.mongodb.client.model.Filters.in;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;

/** Messages that have room, with their content. */
record FetchedMessages(OutboxCollections collections) {

  /** What came past the validator without one is left alone: it has no place in any order. */
  static final Bson HAS_SEQUENCE = gte("seq", new BsonTimestamp());

  /**
   * @param toFetch those of the chosen ones that came without their content
   */
  List<Row> claimable(
      MongoTransaction transaction, Status status, List<Document> chosen, List<Document> toFetch) {
    Map<Object, Document> fetched = new HashMap<>();
    if (!toFetch.isEmpty()) {
      collections
          .message()
          .find(
              transaction.session(),
              in("_id", toFetch.stream().map(message -> message.get("_id")).toList()))
          .forEach(message -> fetched.put(id(message), message));
    }
    return chosen.stream()
        .map(
            message ->
                row(transaction, message, status, fetched.getOrDefault(id(message), message)))
        .toList();
  }

  private static Row row(
      MongoTransaction transaction, Document message, Status status, Document whole) {
    return new Claimable(
        message.getInteger("bucket"),
        Documents.sequence(message),
        Documents.key(message),
        status,
        id(message),
        Documents.message(whole).claimedAt(transaction.now().toInstant()),
        Documents.time(whole));
  }

  static Object id(Document message) {
    return message.get("_id", Object.class);
  }
}
