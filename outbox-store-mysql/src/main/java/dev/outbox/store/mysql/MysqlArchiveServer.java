package dev.outbox.store.mysql;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.ArchiveServer;

/** Where an archive is: the outbox's database, with a changelog of its own. */
final class MysqlArchiveServer extends MysqlServer implements ArchiveServer {
  private final Names names;

  /**
   * @param names the archive's
   */
  MysqlArchiveServer(Names names, Flavor flavor) {
    super(flavor);
    this.names = names;
  }

  @Override
  public String changelog() {
    return "dev/outbox/store/mysql/archive-changelog.sql";
  }

  @Override
  public String fill(String sql) {
    return names.fill(sql);
  }
}
