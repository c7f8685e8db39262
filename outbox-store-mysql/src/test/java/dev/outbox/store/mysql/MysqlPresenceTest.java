package dev.outbox.store.mysql;

import dev.outbox.Archive;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.RelayPresence;
import dev.outbox.store.jdbc.PresenceTests;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("A relay that shows that it lives")
class MysqlPresenceTest extends PresenceTests {
  private static final PrefixedNames NAMES = new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX);

  private final Tested server;

  MysqlPresenceTest(Tested server) {
    super(server);
    this.server = server;
  }

  @Override
  protected SqlDialect dialect() {
    return MysqlDialect.of(NAMES, server.flavor, Archive.NONE);
  }

  @Override
  protected boolean isSettled() {
    try (Handle handle = Jdbi.create(database.pool).open()) {
      return handle
          .createQuery("show global status where variable_name = 'Uptime' and value > 5")
          .mapTo(String.class)
          .findFirst()
          .isPresent();
    }
  }

  @Override
  protected Set<Long> sessions() {
    MysqlText text = new MysqlText(NAMES, server.flavor);
    RelayLocks locks = new RelayLocks(text);
    try (Handle handle = Jdbi.create(database.pool).open()) {
      return UnparsedSql.query(handle, locks.codes(handle))
          .map((row, context) -> locks.ofNumber(handle, RelayPresence.number(row.getInt(3))))
          .stream()
          .flatMap(
              number ->
                  UnparsedSql.query(handle, "select is_used_lock(" + number + ")")
                      .mapTo(Long.class)
                      .stream())
          .collect(Collectors.toSet());
    }
  }

  @Override
  protected void end(long session) {
    database.execute("kill " + session);
  }

  @Override
  protected String impatient(String sql) {
    return sql.replace("wait_timeout = 30", "wait_timeout = 2");
  }

  @Override
  protected String sessionQuery() {
    return "select concat(connection_id(), ' ', @@wait_timeout)";
  }

  @Override
  protected int snapshots(Set<Long> sessions) {
    return Integer.parseInt(
        database.query(
            "select count(*) from information_schema.innodb_trx where trx_mysql_thread_id in (%s)"
                .formatted(
                    sessions.stream().map(String::valueOf).collect(Collectors.joining(", ")))));
  }
}
