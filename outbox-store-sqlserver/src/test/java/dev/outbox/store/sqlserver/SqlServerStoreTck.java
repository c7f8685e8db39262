package dev.outbox.store.sqlserver;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.JdbcStoreTck;
import dev.outbox.store.jdbc.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.opentest4j.TestAbortedException;

/** The TCK on SQL Server; also what {@code ./outbox tck} runs in a user's own database. */
public class SqlServerStoreTck extends JdbcStoreTck {
  public SqlServerStoreTck() {
    super(new SqlServer());
  }

  @Override
  protected JdbcOutboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return super.builder(dataSource).schema(database().schema());
  }

  /** T-SQL lets no connection choose its schema, so the tables are named with it. */
  @Override
  protected String named(String sql) {
    return sql.replace("outbox_", database().schema() + "." + PrefixedNames.DEFAULT_PREFIX);
  }

  @Override
  protected List<String> analyze() {
    return List.of("update statistics outbox_message", "update statistics outbox_blocked_key");
  }

  /** Counts pages; a session sees its own without any right. */
  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    return () -> {
      try {
        return Long.parseLong(
            session.query(
                "select logical_reads from sys.dm_exec_sessions where session_id = @@spid"));
      } catch (RuntimeException e) {
        throw new TestAbortedException("skipped: the server does not count logical reads", e);
      }
    };
  }

  @Override
  public AutoCloseable stopInClaim(Claim.Request request) {
    throw stopped();
  }

  @Override
  public AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions) {
    throw stopped();
  }

  private static TestAbortedException stopped() {
    return new TestAbortedException(
        "skipped: SQL Server ends no transaction because its client is silent, see docs/design/sqlserver.md");
  }
}
