package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.gt;
import static com.mongodb.client.model.Filters.lte;
import static com.mongodb.client.model.Projections.include;
import static com.mongodb.client.model.Sorts.ascending;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;
import static com.mongodb.client.model.Updates.unset;
import static java.util.Objects.requireNonNull;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.FindOneAndDeleteOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import dev.outbox.inbox.Fingerprint;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.store.core.internal.InboxTaking;
import dev.outbox.store.core.internal.InboxTaking.State;
import dev.outbox.store.core.internal.PrefixedNames;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.bson.BsonBinary;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/**
 * The documents of an inbox. Each change is one command, whose condition the server looks at when
 * it makes it.
 *
 * <p>The time is the server's, as it was asked for before ({@link ServerClock}), so a little in the
 * past: a lock lasts a little longer for others, and a little less for its holder.
 */
final class InboxDocuments {

  /** So many are looked for at once when purging. */
  static final int PURGE = 1_000;

  /** How long an operation waits for the transaction of somebody else. */
  private static final long PATIENCE_MILLIS = 10_000;

  /** How long a deletion waits for one: what is being changed is left alone. */
  private static final long WAIT_MILLIS = 50;

  /** What is known of a key. */
  record Entry(
      State state,
      @Nullable UUID token,
      Fingerprint fingerprint,
      int attempts,
      @Nullable Date lockUntil,
      Duration left,
      InboxResult result)
      implements InboxTaking.Known {}

  private final MongoCollection<Document> messages;
  private final Duration retention;

  InboxDocuments(MongoClient client, String database, PrefixedNames names, Duration retention) {
    // What is reported as locked or done must not be undone by an election.
    messages =
        OutboxCollections.in(client, database)
            .getCollection(names.table("message"))
            .withWriteConcern(WriteConcern.MAJORITY);
    this.retention = retention;
  }

  /** Two fields in this order: the server compares them as they are written. */
  private static Document id(InboxKey key) {
    return new Document("consumer", key.consumer()).append("messageId", key.messageId());
  }

  // ---- taking

  /**
   * What a taker makes of a document.
   *
   * @param lock null: the key is done herewith
   */
  record Taking(UUID token, Fingerprint fingerprint, @Nullable Duration lock, Instant now) {
    private State state() {
      return lock == null ? State.DONE : State.STARTED;
    }
  }

  /**
   * In the caller's transaction, which an error of the server would end: inserts a document, unless
   * there is one; then its token is another.
   *
   * @return the one that is there now
   */
  Entry insertOrFind(ClientSession session, InboxKey key, Taking taking) {
    Document there =
        messages.findOneAndUpdate(
            session,
            eq("_id", id(key)),
            new Document("$setOnInsert", document(taking)),
            new FindOneAndUpdateOptions().upsert(true).returnDocument(ReturnDocument.AFTER));
    return entry(requireNonNull(there, "an upsert leaves a document"), taking.now());
  }

  /**
   * Inserts a document. Waits while an open transaction has inserted it, too.
   *
   * @return false when there is one
   */
  boolean insert(InboxKey key, Taking taking) {
    try {
      // Only the client's time limit goes with an insert.
      messages
          .withTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
          .insertOne(document(taking).append("_id", id(key)));
      return true;
    } catch (MongoWriteException e) {
      if (e.getError().getCategory() == ErrorCategory.DUPLICATE_KEY) {
        return false;
      }
      throw e;
    }
  }

  private Document document(Taking taking) {
    Document document =
        new Document("state", taking.state().name())
            .append("token", new BsonBinary(taking.token()))
            .append("attempts", 1);
    if (taking.lock() != null) {
      document.append("lockUntil", after(taking.now(), taking.lock()));
    }
    if (!taking.fingerprint().equals(Fingerprint.none())) {
      document.append("fingerprint", new BsonBinary(taking.fingerprint().bytes()));
    }
    return document.append("expiresAt", expiry(taking));
  }

  /** Takes over a document that has just been found, unless somebody else changed it meanwhile. */
  boolean takeOver(@Nullable ClientSession session, InboxKey key, Entry found, Taking taking) {
    List<Bson> all = new ArrayList<>();
    all.add(set("state", taking.state().name()));
    all.add(set("token", new BsonBinary(taking.token())));
    all.add(inc("attempts", 1));
    all.add(set("expiresAt", expiry(taking)));
    all.add(
        taking.lock() == null
            ? unset("lockUntil")
            : set("lockUntil", after(taking.now(), taking.lock())));
    Fingerprint fingerprint = found.fingerprint().or(taking.fingerprint());
    if (!fingerprint.equals(Fingerprint.none())) {
      all.add(set("fingerprint", new BsonBinary(fingerprint.bytes())));
    }
    // A renewal leaves the token as it is, and has another end.
    Bson asFound =
        and(
            ofLock(key, requireNonNull(found.token(), "each has a token"), found.state()),
            eq("lockUntil", found.lockUntil()));
    return change(session, asFound, combine(all));
  }

  private Date expiry(Taking taking) {
    return after(taking.now(), taking.lock() == null ? retention : taking.lock().plus(retention));
  }

  private static Date after(Instant now, Duration time) {
    return Date.from(now.plus(time));
  }

  private static Bson ofLock(InboxKey key, UUID token, State state) {
    return and(eq("_id", id(key)), eq("token", new BsonBinary(token)), eq("state", state.name()));
  }

  private boolean change(@Nullable ClientSession session, Bson which, Bson change) {
    FindOneAndUpdateOptions options = new FindOneAndUpdateOptions().projection(include("_id"));
    Document changed =
        session == null
            ? within(PATIENCE_MILLIS)
                .findOneAndUpdate(
                    which, change, options.maxTime(PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
            : messages.findOneAndUpdate(session, which, change, options);
    return changed != null;
  }

  // ---- what a lock does

  boolean renew(InboxKey key, UUID token, Duration lock, Instant now) {
    return change(
        null,
        key,
        token,
        set("lockUntil", after(now, lock)),
        set("expiresAt", after(now, lock.plus(retention))));
  }

  /**
   * @param session in a transaction of the caller, or null
   */
  boolean complete(
      @Nullable ClientSession session, InboxKey key, UUID token, InboxResult result, Instant now) {
    return change(
        session,
        key,
        token,
        set("state", State.DONE.name()),
        unset("lockUntil"),
        set("result", new BsonBinary(result.content())),
        result.contentType() == null
            ? unset("contentType")
            : set("contentType", result.contentType()),
        set("expiresAt", after(now, retention)));
  }

  boolean release(InboxKey key, UUID token, String error, Instant now) {
    return change(
        null,
        key,
        token,
        set("state", State.FAILED.name()),
        set("lockUntil", Date.from(now)),
        set("lastError", error),
        set("expiresAt", after(now, retention)));
  }

  private boolean change(
      @Nullable ClientSession session, InboxKey key, UUID token, Bson... changes) {
    return change(session, ofLock(key, token, State.STARTED), combine(changes));
  }

  /**
   * Whether a lock left the document in a state. Asked by a change to what it is: that goes to the
   * primary also in a transaction of a client that reads elsewhere.
   */
  boolean is(@Nullable ClientSession session, InboxKey key, UUID token, State state) {
    return change(session, ofLock(key, token, state), set("state", state.name()));
  }

  /**
   * What is there now. An election does not undo it: who is told that a message is done never looks
   * again.
   */
  @Nullable Entry find(InboxKey key, Instant now) {
    Document found =
        within(PATIENCE_MILLIS)
            .withReadConcern(ReadConcern.LINEARIZABLE)
            .find(eq("_id", id(key)))
            .maxTime(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
            .first();
    return found == null ? null : entry(found, now);
  }

  private static Entry entry(Document document, Instant now) {
    Binary fingerprint = document.get("fingerprint", Binary.class);
    Binary result = document.get("result", Binary.class);
    Date lockUntil = document.getDate("lockUntil");
    return new Entry(
        State.valueOf(document.getString("state")),
        Documents.uuid(document.get("token")),
        fingerprint == null ? Fingerprint.none() : Fingerprint.ofHash(fingerprint.getData()),
        document.getInteger("attempts", 0),
        lockUntil,
        lockUntil == null
            ? Duration.ZERO
            : Duration.between(now.truncatedTo(ChronoUnit.MILLIS), lockUntil.toInstant()),
        result == null
            ? InboxResult.none()
            : InboxResult.of(result.getData(), document.getString("contentType")));
  }

  // ---- housekeeping

  /**
   * Deletes some of what has expired; what an open transaction changes stays.
   *
   * @return whether there may be more
   */
  boolean purge(Instant now) {
    Bson expired = lte("expiresAt", Date.from(now));
    List<Document> some =
        messages
            .find(expired)
            .sort(ascending("expiresAt"))
            .limit(PURGE)
            .projection(include("_id"))
            .into(new ArrayList<>());
    int deleted = 0;
    for (Document document : some) {
      deleted += delete(and(eq("_id", document.get("_id")), expired)) ? 1 : 0;
    }
    return some.size() == PURGE && deleted > 0;
  }

  private boolean delete(Bson which) {
    try {
      // Without waiting for other members: what comes back expires again.
      return within(WAIT_MILLIS)
              .withWriteConcern(WriteConcern.W1)
              .findOneAndDelete(
                  which,
                  new FindOneAndDeleteOptions()
                      .projection(include("_id"))
                      .maxTime(WAIT_MILLIS, TimeUnit.MILLISECONDS))
          != null;
    } catch (MongoExecutionTimeoutException | MongoOperationTimeoutException e) {
      return false;
    }
  }

  private MongoCollection<Document> within(long millis) {
    return OutboxCollections.within(messages, millis);
  }

  // ---- statistics

  InboxStatistics statistics(Instant now, int cap) {
    Date time = Date.from(now);
    return new InboxStatistics(
        cap,
        count(State.STARTED, gt("lockUntil", time), cap),
        count(State.STARTED, lte("lockUntil", time), cap),
        count(State.FAILED, exists("lockUntil"), cap));
  }

  private long count(State state, Bson lock, int cap) {
    return messages.countDocuments(
        and(eq("state", state.name()), lock), new CountOptions().limit(cap));
  }
}
