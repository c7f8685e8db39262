package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Names;
import javax.sql.DataSource;

/**
 * The archive's tables, which have a version and a changelog of their own: so an outbox without an
 * archive needs no migration for it, and one that gets an archive later only this one.
 */
public final class ArchiveSchema {
  private final Schema schema;
  private final JdbcTransactions transactions;

  private ArchiveSchema(Schema schema, JdbcTransactions transactions) {
    this.schema = schema;
    this.transactions = transactions;
  }

  /**
   * @param outbox the names of the outbox's tables
   */
  public static ArchiveSchema of(DataSource dataSource, Server server, Names outbox) {
    Names names = outbox.archive();
    return new ArchiveSchema(
        new Schema(dataSource, server, names),
        new JdbcTransactions(dataSource, server, names, Grants.Role.RELAY));
  }

  public void migrate() {
    schema.migrate(transactions);
  }

  public String ddl() {
    return schema.ddl();
  }

  public void verify() {
    schema.verify(transactions);
  }
}
