package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import dev.outbox.Texts;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.store.core.internal.PrefixedNames;
import java.time.Duration;
import java.util.List;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The archive's collections, which have a version and a changelog of their own; and how long the
 * server keeps what is in them, which is part of an index there. To verify them, a relay need not
 * know how long that is.
 */
final class ArchiveSchema extends Schema {

  /** The index by which the server deletes what is old enough. */
  static final String AGE = requireNonNull(CollectionKind.ARCHIVE.indexes.get("message"));

  private static final String SECONDS = "expireAfterSeconds";

  /** Null: as the server has it. */
  private final @Nullable Long seconds;

  /**
   * @param names the archive's
   * @param retention null: as it is, or by default where the archive is made
   */
  ArchiveSchema(
      MongoClient client, String database, PrefixedNames names, @Nullable Duration retention) {
    super(
        client,
        database,
        Changelog.of(names, seconds(retention == null ? History.DEFAULT_RETENTION : retention)),
        names);
    seconds = retention == null ? null : seconds(retention);
  }

  /** At least as long, and no longer than an index can say: 68 years. */
  private static long seconds(Duration retention) {
    return Math.min(Integer.MAX_VALUE - 1, retention.minusNanos(1).toSeconds()) + 1;
  }

  /** As others; and sets the retention, where it was told and is another. */
  @Override
  void migrate() {
    Long before = secondsThere();
    if (before == null) {
      super.migrate();
      return;
    }
    migrate(Changelog.of(names, before)); // an index can be made again only as it is
    if (seconds != null && !before.equals(seconds)) {
      Document ignored =
          database.runCommand(
              new Document("collMod", names.table("message"))
                  .append("index", new Document("name", AGE).append(SECONDS, seconds)));
    }
  }

  /** Whether the server keeps for the time that this store was told. */
  List<Finding> findings() {
    Long there;
    try {
      there = secondsThere();
    } catch (MongoCommandException e) {
      ignoreUnauthorized(e);
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
    Document age = index("message", AGE);
    return age != null && age.get(SECONDS) instanceof Number there ? there.longValue() : null;
  }
}
