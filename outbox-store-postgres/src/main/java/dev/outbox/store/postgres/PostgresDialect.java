package dev.outbox.store.postgres;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.store.jdbc.internal.SqlInspection;
import dev.outbox.store.jdbc.internal.TableKind;
import java.time.Duration;

/** What an outbox on PostgreSQL is made of. */
final class PostgresDialect {
  private PostgresDialect() {}

  /**
   * @param patience of {@link CertifiedSequences}
   */
  static SqlDialect of(PrefixedNames names, Pooler pooler, Archive kept, Duration patience) {
    PostgresServer server = new PostgresServer(names, TableKind.outbox(kept), pooler);
    PostgresArchive archive = new PostgresArchive(kept);
    CertifiedSequences certified = new CertifiedSequences(System::nanoTime, patience);
    MessageRows rows = new PostgresRows();
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
            ? new PostgresServer(names.archive(), TableKind.ARCHIVE, pooler)
            : null);
  }
}
