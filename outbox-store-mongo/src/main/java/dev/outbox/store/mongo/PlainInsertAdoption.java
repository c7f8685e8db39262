package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.type;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.WriteModel;
import dev.outbox.spi.store.InspectionStore.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.BsonBinary;
import org.bson.BsonType;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Documents by plain {@code insertOne} (A6). They have a sequence, which the server gave them, but
 * no bucket, status and key. Each claim first gives these to the oldest of them, outside any
 * transaction: any number of relays write the same values, and nobody needs a lease for it.
 *
 * <p>Their order holds because no claim hands out a message behind one that was not adopted: {@link
 * #end} is asked in the snapshot in which the messages are read, and reading ends there.
 */
record PlainInsertAdoption(MongoCollection<Document> messages) {

  /** The least that a claim adopts, however few messages it asks for. */
  private static final int LEAST = 100;

  static final Bson NOT_ADOPTED =
      and(eq("status", null), eq("bucket", null), type("seq", BsonType.TIMESTAMP));

  /**
   * @param wanted how many messages the claim asks for
   */
  void adopt(ClientSession session, int wanted) {
    int most = Math.max(LEAST, wanted);
    List<WriteModel<Document>> adopted = new ArrayList<>();
    for (Document found :
        messages
            .find(session, NOT_ADOPTED)
            .sort(ascending("seq"))
            .limit(most)
            .batchSize(most)
            .projection(include("id", "partitionKey", "aggregateType", "aggregateId"))) {
      adopted.add(
          new UpdateOneModel<>(and(eq("_id", found.get("_id")), eq("bucket", null)), given(found)));
    }
    if (!adopted.isEmpty()) {
      messages.bulkWrite(session, adopted, new BulkWriteOptions().ordered(false));
    }
  }

  private static Bson given(Document found) {
    String key = Documents.keyOf(found);
    List<Bson> fields = new ArrayList<>();
    fields.add(set("bucket", Documents.bucket(key)));
    fields.add(set("status", Status.PENDING.name()));
    fields.add(set("key", key));
    if (found.get("id") == null) {
      fields.add(set("id", new BsonBinary(UUID.randomUUID())));
    }
    return combine(fields);
  }

  /** Below which sequence all are adopted, in the session's snapshot. */
  long end(ClientSession session) {
    Document oldest = oldest(session);
    return oldest == null ? Long.MAX_VALUE : Documents.sequence(oldest);
  }

  /** The sequence of the oldest one that is not adopted; null: there is none. */
  @Nullable Document oldest(ClientSession session) {
    return messages
        .find(session, NOT_ADOPTED)
        .sort(ascending("seq"))
        .projection(include("seq"))
        .first();
  }
}
