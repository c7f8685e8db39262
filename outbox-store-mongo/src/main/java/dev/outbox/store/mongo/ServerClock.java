package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Projections.computed;
import static com.mongodb.client.model.Projections.fields;
import static com.mongodb.client.model.Projections.include;

import com.mongodb.client.MongoCollection;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The server's clock. An insert cannot ask for it, so that it is read beforehand, together with the
 * schema's version, and not for each append: what passes in between is counted here.
 */
final class ServerClock {
  private static final long KEPT = Duration.ofSeconds(10).toNanos();

  private final MongoCollection<Document> schema;
  private final CollectionKind contents;
  private final Consumer<@Nullable Document> check;
  private volatile @Nullable Reading last;

  /**
   * @param check refuses a schema that this library does not work with
   */
  ServerClock(
      MongoCollection<Document> schema,
      CollectionKind contents,
      Consumer<@Nullable Document> check) {
    this.schema = schema;
    this.contents = contents;
    this.check = check;
  }

  private record Reading(Instant time, long at) {
    Instant now(long nanos) {
      return time.plusNanos(nanos - at);
    }
  }

  /** To about the time of a round trip, unless the server's clock was set in the last seconds. */
  Instant now() {
    Reading reading = last;
    long nanos = System.nanoTime();
    return reading != null && nanos - reading.at() < KEPT ? reading.now(nanos) : read();
  }

  /**
   * Makes sure that the schema is there.
   *
   * @throws dev.outbox.SchemaException when it is missing or of another version
   */
  void check() {
    Instant unused = read();
  }

  /**
   * What it says now.
   *
   * @throws dev.outbox.SchemaException when the schema is missing or of another version
   */
  Instant read() {
    Document found =
        schema
            .find(eq("_id", contents.word))
            .projection(fields(include("version"), computed("now", "$$NOW")))
            .first();
    last = null;
    check.accept(found);
    Reading reading = new Reading(found.getDate("now").toInstant(), System.nanoTime());
    last = reading;
    return reading.time();
  }
}
