package dev.outbox.store.mysql;

import dev.outbox.store.core.internal.Names;
import dev.outbox.store.core.internal.SchemaVersion;

/** Where an archive is: the outbox's database, with a changelog of its own. */
final class MysqlArchiveServer extends MysqlServer {
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

  /** Those of the outbox have them. */
  @Override
  public String grants() {
    return "";
  }

  @Override
  public String migrate() {
    return SchemaVersion.MIGRATE_ARCHIVE;
  }

  @Override
  public String fill(String sql) {
    return names.fill(sql);
  }
}
