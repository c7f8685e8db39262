package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.in;
import static com.mongodb.client.model.Filters.ne;
import static com.mongodb.client.model.Projections.computed;
import static com.mongodb.client.model.Projections.fields;
import static com.mongodb.client.model.Projections.include;

import com.mongodb.MongoCommandException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.SchemaVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/** The collections: made by Liquibase, or printed to be made by hand; and checked. */
class Schema {

  /** What this library works with. */
  static final int VERSION = 1;

  /** How often a migration that failed is begun anew: each of its commands may be run again. */
  private static final int TRIES = 3;

  /** The second is Atlas's own. */
  private static final Set<Integer> UNAUTHORIZED = Set.of(13, 8000);

  private final MongoClient client;
  final MongoDatabase database;
  private final Changelog changelog;
  private final CollectionKind contents;
  final PrefixedNames names;

  Schema(MongoClient client, String database, CollectionKind contents, PrefixedNames names) {
    this(client, database, Changelog.of(contents, names), names);
  }

  Schema(MongoClient client, String database, Changelog changelog, PrefixedNames names) {
    this.client = client;
    this.database = OutboxCollections.in(client, database).withWriteConcern(WriteConcern.MAJORITY);
    this.changelog = changelog;
    contents = changelog.contents();
    this.names = names;
  }

  String place() {
    return "database " + database.getName();
  }

  /**
   * Does nothing when this version is there already, or a newer one: also by hand, of which
   * Liquibase knows nothing. A collection that was dropped is made again.
   *
   * @throws SchemaException when the collections are for something else; they are left as they are
   */
  void migrate() {
    migrate(changelog);
  }

  final void migrate(Changelog by) {
    refuseTheOther();
    int version = version(found());
    if (version == VERSION && !isWhole()) {
      by.commands().forEach(database::runCommand);
    }
    if (version >= VERSION) {
      return;
    }
    for (int attempt = 1; ; attempt++) {
      try {
        LiquibaseMigration.run(client, database, by, names);
        return;
      } catch (OutboxException e) {
        // Of several that migrate at once, one may be refused what another has just done.
        if (version(found()) == VERSION) {
          return;
        }
        if (attempt == TRIES) {
          throw e;
        }
      } catch (NoClassDefFoundError e) {
        throw new PermanentOutboxException(
            "Liquibase needs the class %s: add org.liquibase:liquibase-core:4.33.0, the last version under Apache-2.0, org.liquibase.ext:liquibase-mongodb:4.33.0.1, and what they depend on, or run ddl() by hand with mongosh"
                .formatted(e.getMessage()),
            e);
      }
    }
  }

  /** For mongosh, in the database of the collections. */
  String ddl() {
    return changelog.script();
  }

  /**
   * For mongosh: the roles of those who use the collections.
   *
   * @param users by what the script calls them, plain names
   */
  String grants(Map<String, String> users) {
    String script =
        names
            .fill(PrefixedNames.resource(Schema.class, contents.grants))
            .replace("${d}", database.getName());
    for (Map.Entry<String, String> user : users.entrySet()) {
      script =
          script.replace(
              "${" + user.getKey() + "}", PrefixedNames.plain(user.getKey(), user.getValue()));
    }
    return script;
  }

  /**
   * Refuses a schema that is missing, of another version, for something else, or spread over
   * shards.
   *
   * @throws SchemaException saying in one sentence what is wrong and what to do
   */
  void verify() {
    refuseTheOther();
    check(found());
    if (!isWhole()) {
      throw new SchemaException(
          "collection %s has lost its indexes, as when it was dropped and a write made it anew: migrate the database (%s, or migrate() of the store)"
              .formatted(
                  contents.indexes.keySet().stream()
                      .map(names::table)
                      .sorted(Comparator.reverseOrder())
                      .collect(Collectors.joining(" or ")),
                  contents.migrate));
    }
    refuseSharded();
  }

  private boolean isWhole() {
    return contents.indexes.entrySet().stream()
        .allMatch(index -> hasIndex(index.getKey(), index.getValue()));
  }

  private boolean hasIndex(String collection, String index) {
    try {
      return index(collection, index) != null;
    } catch (MongoCommandException e) {
      ignoreUnauthorized(e);
      return true;
    }
  }

  /** An index by its name; null: there is none. */
  final @Nullable Document index(String collection, String name) {
    return database
        .getCollection(names.table(collection))
        .listIndexes()
        .into(new ArrayList<>())
        .stream()
        .filter(index -> name.equals(index.getString("name")))
        .findFirst()
        .orElse(null);
  }

  /** Not everybody may read how things are. */
  static void ignoreUnauthorized(MongoCommandException e) {
    if (!UNAUTHORIZED.contains(e.getErrorCode())) {
      throw e;
    }
  }

  /**
   * What the server's clock says.
   *
   * @throws SchemaException when the schema is missing or of another version
   */
  Instant now() {
    Document found =
        versions()
            .find(eq("_id", contents.word))
            .projection(fields(include("version"), computed("now", "$$NOW")))
            .first();
    check(found);
    return found.getDate("now").toInstant();
  }

  /**
   * Refuses a version that this library does not work with.
   *
   * @param found the document with the version, or null when it was not found
   */
  void check(@Nullable Document found) {
    String collection = names.table("schema");
    int version = version(found);
    if (version == 0) {
      refuseTheOther();
    }
    if (version == 0 && !exists(collection)) {
      throw SchemaVersion.missing("collection " + collection, contents.migrate, null);
    }
    if (version == 0) {
      throw new SchemaException(
          "collection %s is empty, so its version is not known: put the document back (db.%s.insertOne({ _id: \"%s\", version: %s })), or migrate an empty database"
              .formatted(collection, collection, contents.word, VERSION));
    }
    SchemaVersion.check(collection, version, VERSION, contents.migrate);
  }

  private @Nullable Document found() {
    return found(eq("_id", contents.word));
  }

  private @Nullable Document found(Bson which) {
    return versions().find(which).first();
  }

  private MongoCollection<Document> versions() {
    return database.getCollection(names.table("schema"));
  }

  /** They have collections of the same names, with other validators. */
  private void refuseTheOther() {
    Document found = found(in("_id", contents.others()));
    if (found != null) {
      String other = found.getString("_id");
      throw new SchemaException(
          "collection %s belongs to an %s, and an %s needs collections of its own: give another prefix%s"
              .formatted(names.table("schema"), other, contents.word, orMeant(other)));
    }
  }

  private String orMeant(String other) {
    boolean isInbox = other.equals(CollectionKind.INBOX.word);
    boolean isOption =
        isInbox && contents == CollectionKind.OUTBOX
            || contents == CollectionKind.INBOX && other.equals(CollectionKind.OUTBOX.word);
    return isOption
        ? ", or, when the %s is meant, %s --inbox".formatted(other, isInbox ? "add" : "leave out")
        : "";
  }

  private static int version(@Nullable Document found) {
    return found == null ? 0 : Documents.number(found, "version");
  }

  private boolean exists(String collection) {
    return database
        .listCollectionNames()
        .authorizedCollections(true)
        .filter(eq("name", collection))
        .into(new ArrayList<>())
        .contains(collection);
  }

  /** The cluster's own list of its collections tells; a replica set has none. */
  private void refuseSharded() {
    List<String> ours =
        contents.onOneShard.stream()
            .map(name -> database.getName() + "." + names.table(name))
            .toList();
    Document sharded;
    try {
      sharded =
          OutboxCollections.in(client, "config")
              .getCollection("collections")
              .find(and(in("_id", ours), ne("unsplittable", true)))
              .first();
    } catch (MongoCommandException e) {
      ignoreUnauthorized(e);
      return;
    }
    if (sharded != null) {
      throw new SchemaException(
          "collection %s is sharded, which the outbox's must not be, because each shard counts sequences of its own and the messages of a key would be out of order: unshard it (sh.unshardCollection, MongoDB 8.0), or migrate another database for the outbox"
              .formatted(sharded.get("_id")));
    }
  }
}
