package dev.outbox.store.postgres;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.ArchiveServer;

/** Where an archive is: the outbox's database, with a changelog of its own. */
final class PostgresArchiveServer extends PostgresServer implements ArchiveServer {

  /**
   * @param names the archive's
   */
  PostgresArchiveServer(Names names, Pooler pooler) {
    super(names, pooler);
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/postgres/archive-changelog.sql";
  }
}
