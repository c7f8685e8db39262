package dev.outbox.store.mongo;

import dev.outbox.store.core.internal.SchemaVersion;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What collections are for: an outbox, its archive, or an inbox. */
enum CollectionKind {
  OUTBOX(
      "outbox",
      SchemaVersion.MIGRATE,
      "changelog.xml",
      "grants.js",
      Map.of("message", "queue", "blocked_key", "due"),
      List.of("message", "bucket", "blocked_key", "dedup", "schema")),
  ARCHIVE(
      "archive",
      SchemaVersion.MIGRATE_ARCHIVE,
      "archive-changelog.xml",
      "archive-grants.js",
      Map.of("message", "age", "audit", "time"),
      List.of()),
  INBOX(
      "inbox",
      SchemaVersion.MIGRATE_INBOX,
      "inbox-changelog.xml",
      "inbox-grants.js",
      Map.of("message", "expired"),
      List.of());

  /** What people call it; also the {@code _id} of the document with the version. */
  final String word;

  /** The command that makes the collections, in error texts. */
  final String migrate;

  /** The changelog, beside this class. */
  final String changelog;

  /** The script with the roles, beside this class. */
  final String grants;

  /** By collection, an index that is lost when it is dropped and made anew by a write. */
  final Map<String, String> indexes;

  /** What must not be spread over shards. */
  final List<String> onOneShard;

  CollectionKind(
      String word,
      String migrate,
      String changelog,
      String grants,
      Map<String, String> indexes,
      List<String> onOneShard) {
    this.word = word;
    this.migrate = migrate;
    this.changelog = changelog;
    this.grants = grants;
    this.indexes = indexes;
    this.onOneShard = onOneShard;
  }

  /** What people call what else collections may be for. */
  List<String> others() {
    return Arrays.stream(values()).filter(other -> other != this).map(other -> other.word).toList();
  }
}
