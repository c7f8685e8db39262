package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.outbox.Texts;
import dev.outbox.spi.store.Finding;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.Retention;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The archive's collections, which have a version and a changelog of their own; and how long the
 * server keeps what is in them, which is part of an index there.
 */
final class ArchiveSchema {

  /** The index by which the server deletes what is old enough. */
  static final String AGE = requireNonNull(CollectionKind.ARCHIVE.indexes.get("message"));

  private static final int NAMESPACE_NOT_FOUND = 26;
  private static final String SECONDS = "expireAfterSeconds";

  private final MongoClient client;
  private final String database;
  private final PrefixedNames names;

  /** Null: as the server has it. */
  private final @Nullable Long seconds;

  /**
   * @param names the archive's
   * @param retention null: as it is, or by default where the archive is made
   */
  ArchiveSchema(
      MongoClient client, String database, PrefixedNames names, @Nullable Duration retention) {
    this.client = client;
    this.database = database;
    this.names = names;
    seconds = retention == null ? null : seconds(retention);
  }

  /** At least as long, and no longer than an index can say: 68 years. */
  private static long seconds(Duration retention) {
    return Math.min(Integer.MAX_VALUE, retention.plusNanos(999_999_999).toSeconds());
  }

  private Schema schema() {
    return schema(seconds == null ? seconds(Retention.DEFAULT_ARCHIVED) : seconds);
  }

  private Schema schema(long withSeconds) {
    return new Schema(client, database, Changelog.of(names, withSeconds), names);
  }

  private MongoDatabase database() {
    return client.getDatabase(database).withReadPreference(ReadPreference.primary());
  }

  /** As {@link Schema#migrate}; and sets the retention, where it was told and is another. */
  void migrate() {
    Long before = secondsThere();
    // An index that is there can be made again only as it is.
    (before == null ? schema() : schema(before)).migrate();
    if (before != null && seconds != null && !before.equals(seconds)) {
      Document ignored =
          database()
              .runCommand(
                  new Document("collMod", names.table("message"))
                      .append("index", new Document("name", AGE).append(SECONDS, seconds)));
    }
  }

  /** As {@link Schema#ddl}. */
  String ddl() {
    return schema().ddl();
  }

  /** As {@link Schema#grants}. */
  String grants(String relay) {
    return schema().grants(Map.of("relay", relay));
  }

  /** As {@link Schema#verify}. A relay need not know how long the server keeps. */
  void verify() {
    schema().verify();
  }

  /** Whether the server keeps for the time that this store was told. */
  List<Finding> findings() {
    Long there;
    try {
      there = secondsThere();
    } catch (MongoCommandException e) {
      Schema.ignoreUnauthorized(e);
      return List.of();
    }
    return there == null || seconds == null || there.equals(seconds)
        ? List.of(Finding.fine("archive", "fine"))
        : List.of(
            Finding.warning(
                "archive",
                "the server keeps the archive (collection %s) for %s, and this store was told %s"
                    .formatted(
                        names.table("message"),
                        Texts.time(Duration.ofSeconds(there)),
                        Texts.time(Duration.ofSeconds(seconds))),
                "migrate() of a store with the right retention sets it"));
  }

  /** For how long the server keeps; null: there is no such index. */
  private @Nullable Long secondsThere() {
    MongoCollection<Document> messages = database().getCollection(names.table("message"));
    try {
      for (Document index : messages.listIndexes()) {
        if (AGE.equals(index.getString("name")) && index.get(SECONDS) instanceof Number number) {
          return number.longValue();
        }
      }
    } catch (MongoCommandException e) {
      if (e.getErrorCode() != NAMESPACE_NOT_FOUND) {
        throw e;
      }
    }
    return null;
  }
}
