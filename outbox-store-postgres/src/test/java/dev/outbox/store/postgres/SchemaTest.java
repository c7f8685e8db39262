package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.SchemaTests;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The schema")
class SchemaTest extends SchemaTests {
  SchemaTest() {
    super(new Postgres());
  }

  @Override
  protected void dropSchema(String name) {
    database.execute("drop schema " + name + " cascade");
  }

  @Override
  protected void runByHand(TestDatabase in, String ddl) {
    in.execute(ddl);
  }

  @Override
  protected String catalog(TestDatabase of) {
    return of.query(
            """
            select string_agg(line, chr(10) order by line) from (
              select format('column %%s.%%s %%s %%s %%s %%s', c.relname, a.attnum, a.attname,
                format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) as line
              from pg_attribute a join pg_class c on c.oid = a.attrelid
              left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
              where c.relnamespace = '%1$s'::regnamespace and a.attnum > 0 and c.relkind = 'r'
                and c.relname not like '%%databasechangelog%%'
              union all
              select format('constraint %%s %%s %%s', c.relname, o.conname, pg_get_constraintdef(o.oid))
              from pg_constraint o join pg_class c on c.oid = o.conrelid
              where c.relnamespace = '%1$s'::regnamespace and c.relname not like '%%databasechangelog%%'
              union all
              select pg_get_indexdef(i.indexrelid)
              from pg_index i join pg_class c on c.oid = i.indrelid
              where c.relnamespace = '%1$s'::regnamespace and c.relname not like '%%databasechangelog%%'
              union all
              select format('options %%s %%s', c.relname, c.reloptions) from pg_class c
              where c.relnamespace = '%1$s'::regnamespace and c.relkind = 'r' and c.relname not like '%%databasechangelog%%'
            ) x
            """
                .formatted(of.schema()))
        .replace(of.schema(), "SCHEMA");
  }

  private static final String NAMESPACES = "pg_catalog.pg_namespace n";

  /** As if a schema of theirs were here. */
  private static String with(String schema) {
    return "(select oid, nspname from pg_catalog.pg_namespace where nspname <> 'pg_catalog'"
        + " union all select oid, '%s' from pg_catalog.pg_namespace where nspname = 'pg_catalog') n"
            .formatted(schema);
  }

  @Override
  protected List<Pretence> pretences() {
    return List.of(
        new Pretence(
            "YugabyteDB",
            Map.of(
                "version()", "'PostgreSQL 15.2-YB-2025.1.0.1-b0 on x86_64-pc-linux-gnu, 64-bit'"),
            "draws sequences from a cache of its own"),
        new Pretence(
            "CockroachDB",
            Map.of(
                "version()", "'CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/12)'"),
            "no transaction ids and snapshots"),
        new Pretence(
            "Aurora DSQL",
            Map.of(
                "version()",
                "'PostgreSQL 16'",
                NAMESPACES,
                with("sys"),
                "c.relname = 'iam_pg_role_mappings'",
                "c.relname = 'pg_class'",
                "c.relname\n",
                "'iam_pg_role_mappings'\n"),
            "locks no row before the commit"),
        new Pretence(
            "Spanner",
            Map.of(NAMESPACES, with("spanner_sys")),
            "the numbers of its sequences do not ascend"));
  }

  private static UnaryOperator<String> citus(String known) {
    return sql ->
        sql.replace("pg_catalog.pg_extension", "(select 'citus' as extname)")
            .replace(
                "pg_dist_partition", "(select '%s'::regclass as logicalrelid)".formatted(known));
  }

  @Test
  @DisplayName("tables that Citus has spread are refused, others are worth a warning")
  void citus() {
    store.migrate();
    assertThat(Findings.wrong(store)).noneMatch(warning -> warning.contains("Citus"));
    JdbcOutboxStore spread =
        builder(Intercepted.rewriting(database.pool, citus("outbox_message"))).build();
    assertThatThrownBy(spread::verify)
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining("table outbox_message is spread over servers by Citus")
        .hasMessageContaining("select undistribute_table('outbox_message')");
    JdbcOutboxStore local =
        builder(Intercepted.rewriting(database.pool, citus("pg_class"))).build();
    local.verify();
    assertThat(Findings.wrong(local)).anyMatch(warning -> warning.contains("the extension Citus"));
  }

  @Test
  @DisplayName("a schema whose name is a word of SQL is refused with what to do")
  void reservedWord() {
    JdbcOutboxStore reserved = builder(database.pool).schema("select").build();
    for (ThrowingCallable use :
        List.<ThrowingCallable>of(
            reserved::migrate,
            reserved::verify,
            () -> reserved.statistics(10_000),
            () -> reserved.claim(request()))) {
      assertThatThrownBy(use)
          .isInstanceOf(OutboxException.class)
          .hasMessageContaining("is the schema's name a reserved word? then choose another");
    }
  }

  /** What a database administrator does to a hot sequence. */
  private void cache(int numbers) {
    database.execute("alter table outbox_message alter seq set cache " + numbers);
  }

  @Test
  @DisplayName("a sequence with a cache for each session is refused, and one that counts otherwise")
  void cachedSequence() throws SQLException {
    store.migrate();
    database.execute("alter sequence outbox_message_seq_seq rename to \"Numbers\"");
    for (String change : List.of("cache 50", "cache 1 increment 2", "increment -1")) {
      database.execute("alter sequence \"Numbers\" " + change);
      JdbcOutboxStore fresh = builder(database.pool).build();
      try (Connection connection = database.pool.getConnection()) {
        connection.setAutoCommit(false);
        for (ThrowingCallable use :
            List.<ThrowingCallable>of(
                fresh::verify,
                fresh::migrate,
                () -> fresh.claim(request()),
                () -> fresh.append(connection, message()))) {
          assertThatThrownBy(use)
              .as(change)
              .isInstanceOf(PermanentOutboxException.class)
              .hasMessageContaining("the sequence \"Numbers\" has cache ")
              .hasMessageEndingWith("run alter sequence \"Numbers\" cache 1 increment 1");
        }
        connection.rollback();
      }
    }
    database.execute("alter sequence \"Numbers\" cache 1 increment 1");
    builder(database.pool).build().verify();
  }

  @Test
  @DisplayName(
      "a relay that runs looks again: no message hides below a mark that passed its number")
  void cachedSequenceMeanwhile() throws SQLException {
    store.migrate();
    store.verify();
    cache(50);
    try (Connection caching = database.pool.getConnection()) {
      caching.setAutoCommit(false);
      store.append(caching, message());
      caching.commit();
      assertThat(delivered()).hasSize(1);
      append(message());
      assertThat(delivered()).as("of another session, beyond the cache").hasSize(1);

      store.append(caching, message());
      caching.commit();
      store.housekeep();
      assertThatThrownBy(() -> store.claim(request()))
          .isInstanceOf(PermanentOutboxException.class)
          .hasMessageContaining("has cache 50");

      cache(1);
      assertThat(delivered()).as("below the mark of before").hasSize(1);
      store.append(caching, message());
      caching.commit();
    }
    assertThat(delivered()).as("of a session that had cached numbers").hasSize(1);
  }
}
