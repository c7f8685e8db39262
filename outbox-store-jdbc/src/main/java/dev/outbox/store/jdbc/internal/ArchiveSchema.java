package dev.outbox.store.jdbc.internal;

import dev.outbox.store.core.internal.Names;
import javax.sql.DataSource;

/**
 * The archive's tables, which have a version and a changelog of their own: so an outbox without an
 * archive needs no migration for it, and one that gets an archive later only this one.
 */
public final class ArchiveSchema {

  /** Between the outbox's prefix and the names of the archive's tables. */
  private static final String INFIX = "archive_";

  /** As much as leaves room for what comes behind it. */
  private static final int MOST_PREFIX = 30 - INFIX.length();

  private final Schema schema;
  private final JdbcTransactions transactions;

  private ArchiveSchema(Schema schema, JdbcTransactions transactions) {
    this.schema = schema;
    this.transactions = transactions;
  }

  /**
   * The names of the archive's tables.
   *
   * @param outbox the names of the outbox's
   * @throws IllegalArgumentException when the prefix is too long for an archive's names
   */
  public static Names names(Names outbox) {
    if (outbox.prefix().length() > MOST_PREFIX) {
      throw new IllegalArgumentException(
          "prefix '%s' has %d characters, with an archive at most %d are allowed"
              .formatted(outbox.prefix(), outbox.prefix().length(), MOST_PREFIX));
    }
    return new Names(outbox.schema(), outbox.prefix() + INFIX);
  }

  /**
   * @param outbox the names of the outbox's tables
   */
  public static ArchiveSchema of(DataSource dataSource, Server server, Names outbox) {
    Names names = names(outbox);
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
