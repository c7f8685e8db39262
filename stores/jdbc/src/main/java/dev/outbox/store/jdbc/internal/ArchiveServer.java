package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.SchemaVersion;

/** Where an archive is: the outbox's database, with a changelog of its own. */
public interface ArchiveServer extends Server {

  /** Those of the outbox have them. */
  @Override
  default String grants() {
    return "";
  }

  @Override
  default String migrate() {
    return SchemaVersion.MIGRATE_ARCHIVE;
  }
}
