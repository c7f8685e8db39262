package dev.outbox.store.mysql;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.MessageRows;
import dev.outbox.store.jdbc.internal.SqlDialect;
import dev.outbox.store.jdbc.internal.SqlInspection;
import dev.outbox.store.jdbc.internal.TableKind;

/** What an outbox on MySQL or MariaDB is made of. */
final class MysqlDialect {
  private MysqlDialect() {}

  static SqlDialect of(PrefixedNames names, Flavor flavor, Archive kept) {
    MysqlText text = new MysqlText(names, flavor);
    MysqlArchive archive = new MysqlArchive(kept);
    MessageRows rows = new MessageRows();
    RelayLocks locks = new RelayLocks(text);
    return new SqlDialect(
        new MysqlServer(names, TableKind.outbox(kept), flavor),
        new Append(text),
        new Database<>(
            new MysqlLeases(text, rows, locks),
            new MysqlReads(rows, text, locks),
            new MysqlWrites(text, flavor, archive),
            new MysqlAdministration(rows, archive),
            new SqlInspection(new MysqlInspection(archive), rows)),
        archive.keepsArchive()
            ? new MysqlServer(names.archive(), TableKind.ARCHIVE, flavor)
            : null);
  }
}
