package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.client.ClientSession;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Deduplicated;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.bson.Document;

/** Appends in the caller's transaction: one command, or three when there are dedup keys. */
record Append(
    OutboxCollections collections, ServerClock clock, Errors errors, Duration dedupWindow) {

  Set<UUID> append(ClientSession session, List<OutboxMessage> messages) {
    return errors.joining(
        session,
        () -> {
          if (messages.isEmpty()) {
            return Set.of();
          }
          Deduplicated deduplicated =
              Deduplicated.of(messages, takeKeys(session, Deduplicated.keys(messages)));
          insert(session, deduplicated.fresh());
          return deduplicated.duplicates();
        });
  }

  /**
   * Those that nobody has taken within the window, which are taken herewith. Asked beforehand,
   * because a duplicate key would end the caller's transaction. One that another transaction takes
   * at the same time is a write conflict, which does end it.
   */
  private Set<String> takeKeys(ClientSession session, Set<String> keys) {
    if (keys.isEmpty()) {
      return keys;
    }
    Instant now = clock.now();
    Set<String> fresh = new TreeSet<>(keys);
    Instant oldest = now.minus(dedupWindow);
    for (Document taken : collections.dedup().find(session, in("_id", keys))) {
      if (taken.getDate("createdAt").toInstant().isAfter(oldest)) {
        fresh.remove(taken.getString("_id"));
      }
    }
    if (!fresh.isEmpty()) {
      collections
          .dedup()
          .bulkWrite(
              session,
              fresh.stream()
                  .map(
                      key ->
                          new UpdateOneModel<Document>(
                              eq("_id", key),
                              set("createdAt", Date.from(now)),
                              new UpdateOptions().upsert(true)))
                  .toList(),
              new BulkWriteOptions().ordered(true));
    }
    return fresh;
  }

  private void insert(ClientSession session, List<OutboxMessage> messages) {
    if (messages.isEmpty()) {
      return;
    }
    boolean delayed =
        messages.stream()
            .anyMatch(
                m ->
                    m.availableAt() != null || m.deliverAfter() != null || m.expireAfter() != null);
    Instant now = delayed ? clock.read() : clock.now();
    List<Document> documents = new ArrayList<>(messages.size());
    for (OutboxMessage message : messages) {
      OutboxMessage dated = message.appendedAt(now);
      Instant due = dated.availableAt();
      Status status = due != null && due.isAfter(now) ? Status.SCHEDULED : Status.PENDING;
      documents.add(Documents.of(dated, status, now));
    }
    collections.message().insertMany(session, documents, new InsertManyOptions().ordered(true));
  }
}
