package dev.outbox.dev.bench;

import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Sorts.ascending;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import dev.outbox.OutboxMessage;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import org.bson.Document;
import org.bson.types.Binary;

/**
 * The limit on MongoDB: what one can do at most with a collection of messages when order, retries,
 * delays, dead letters and that two workers do not take the same are of no interest. The oldest 500
 * by the index that each collection has anyway, in one reply; then one deletion by their ids; no
 * transaction. All fields that a publisher gets are decoded, and nothing is made of them.
 */
final class MongoLimit {
  private MongoLimit() {}

  /** Inserts messages in the session's transaction: one command. */
  static void insert(
      ClientSession session, MongoCollection<Document> collection, List<OutboxMessage> messages) {
    collection.insertMany(session, messages.stream().map(MongoLimit::document).toList());
  }

  /** A message's fields, without those that only our algorithm needs. */
  static Document document(OutboxMessage message) {
    Document document =
        new Document("id", message.id())
            .append("aggregateType", message.aggregateType())
            .append("aggregateId", message.aggregateId())
            .append("eventType", message.eventType())
            .append("payload", new Binary(message.payload()))
            .append("contentType", message.contentType())
            .append("createdAt", new Date());
    if (message.partitionKey() != null) {
      document.append("partitionKey", message.partitionKey());
    }
    return document;
  }

  /** One worker of the loop. */
  record Worker(MongoCollection<Document> collection, int most)
      implements BenchDatabase.LimitWorker {
    @Override
    public int batch() {
      List<Object> ids = new ArrayList<>(most);
      collection
          .find()
          .sort(ascending("_id"))
          .limit(most)
          .batchSize(most)
          .forEach(document -> ids.add(document.get("_id")));
      return ids.isEmpty() ? 0 : (int) collection.deleteMany(in("_id", ids)).getDeletedCount();
    }

    @Override
    public void close() {}
  }
}
