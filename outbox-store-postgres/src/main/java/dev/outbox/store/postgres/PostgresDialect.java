package dev.outbox.store.postgres;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Names;
import dev.outbox.store.jdbc.internal.Rows;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.store.jdbc.internal.SqlInspection;
import dev.outbox.store.jdbc.internal.Tables;
import java.time.Duration;

/** What an outbox on PostgreSQL is made of. */
final class PostgresDialect {
  private PostgresDialect() {}

  static SqlDialect of(Names names, Pooler pooler, Archive kept) {
    return of(names, pooler, kept, Certified.PATIENCE);
  }

  /**
   * @param patience as {@link Certified#PATIENCE}
   */
  static SqlDialect of(Names names, Pooler pooler, Archive kept, Duration patience) {
    PostgresServer server = new PostgresServer(names, Tables.outbox(kept), pooler);
    PostgresArchive archive = new PostgresArchive(kept);
    Certified certified = new Certified(System::nanoTime, patience);
    Rows rows = new PostgresRows();
    return new SqlDialect(
        server,
        new Append(names),
        new Database<>(
            new PostgresLeases(rows, server.statements, pooler, certified, archive),
            new PostgresReads(rows, server.statements, certified),
            new PostgresWrites(server.statements, archive),
            new PostgresAdministration(rows, archive),
            new SqlInspection(new PostgresInspection(archive), rows)),
        archive.keepsArchive()
            ? new PostgresServer(names.archive(), Tables.ARCHIVE, pooler)
            : null);
  }
}
