package dev.outbox.store.sqlserver;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.store.jdbc.internal.SqlInspection;
import dev.outbox.store.jdbc.internal.TableKind;

/** What an outbox on SQL Server is made of. */
final class SqlServerDialect {
  private SqlServerDialect() {}

  static SqlDialect of(PrefixedNames names, Archive kept) {
    SqlServerServer server = new SqlServerServer(names, TableKind.outbox(kept));
    SqlServerArchive archive = new SqlServerArchive(kept);
    MessageRows rows = new MessageRows();
    return new SqlDialect(
        server,
        new Append(server),
        new Database<>(
            new SqlServerLeases(rows),
            new SqlServerReads(rows),
            new SqlServerWrites(archive),
            new SqlServerAdministration(rows, archive),
            new SqlInspection(new SqlServerInspection(archive), rows)),
        archive.keepsArchive() ? new SqlServerServer(names.archive(), TableKind.ARCHIVE) : null);
  }
}
