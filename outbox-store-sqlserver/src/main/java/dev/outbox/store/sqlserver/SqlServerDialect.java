package dev.outbox.store.sqlserver;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.Rows;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.store.jdbc.internal.SqlInspection;
import dev.outbox.store.jdbc.internal.Tables;

/** What an outbox on SQL Server is made of. */
final class SqlServerDialect {
  private SqlServerDialect() {}

  static SqlDialect of(Names names, Archive kept) {
    SqlServerServer server = new SqlServerServer(names, Tables.outbox(kept));
    SqlServerArchive archive = new SqlServerArchive(kept);
    Rows rows = new Rows();
    return new SqlDialect(
        server,
        new Append(server),
        new Database<>(
            new SqlServerLeases(rows),
            new SqlServerReads(rows),
            new SqlServerWrites(archive),
            new SqlServerAdministration(rows, archive),
            new SqlInspection(new SqlServerInspection(archive), rows)),
        archive.keepsArchive() ? new SqlServerServer(names.archive(), Tables.ARCHIVE) : null);
  }
}
