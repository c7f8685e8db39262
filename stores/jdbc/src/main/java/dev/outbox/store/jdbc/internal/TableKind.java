package dev.outbox.store.jdbc.internal;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.SchemaVersion;
import java.util.List;

/** What tables are for. Each kind has a changelog, a version and users of its own. */
public enum TableKind {
  OUTBOX("changelog.sql", SchemaVersion.MIGRATE, "grants.sql"),
  /** The same beside an archive, of which the outbox's users need the tables too. */
  OUTBOX_WITH_ARCHIVE("changelog.sql", SchemaVersion.MIGRATE, "grants.sql", "archive-grants.sql"),
  ARCHIVE("archive-changelog.sql", SchemaVersion.MIGRATE_ARCHIVE),
  INBOX("inbox-changelog.sql", SchemaVersion.MIGRATE_INBOX, "inbox-grants.sql");

  /** The version of each that this library works with. */
  public static final int VERSION = 1;

  /** The file with the changelog, beside the server's class. */
  final String changelog;

  /** The command that makes them, in error texts. */
  final String migrate;

  /** The files with the rights. */
  final List<String> grants;

  TableKind(String changelog, String migrate, String... grants) {
    this.changelog = changelog;
    this.migrate = migrate;
    this.grants = List.of(grants);
  }

  /** Those of an outbox. */
  public static TableKind outbox(Archive archive) {
    return archive == Archive.NONE ? OUTBOX : OUTBOX_WITH_ARCHIVE;
  }
}
