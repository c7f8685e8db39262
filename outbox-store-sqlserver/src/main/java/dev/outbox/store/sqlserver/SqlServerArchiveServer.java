package dev.outbox.store.sqlserver;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.ArchiveServer;

/** Where an archive is: the outbox's database, with a changelog of its own. */
final class SqlServerArchiveServer extends SqlServerServer implements ArchiveServer {

  /**
   * @param names the archive's
   */
  SqlServerArchiveServer(Names names) {
    super(names, "message", "audit");
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/sqlserver/archive-changelog.sql";
  }
}
