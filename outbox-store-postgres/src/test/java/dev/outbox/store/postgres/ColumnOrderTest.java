package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.store.jdbc.TestDatabase;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.PGConnection;

/** The low-water marks rely on it. */
@DisplayName("A producer has its transaction id before it draws its first sequence, inserting by")
class ColumnOrderTest extends DatabaseTest {
  private static final String COLUMNS = "(aggregate_type, aggregate_id, event_type, payload)";
  private static final String ROW = "('order', 'key', 'changed', '')";

  interface Insert {
    void with(Connection connection, JdbcOutboxStore store) throws Exception;
  }

  private static Insert sql(String sql) {
    return (connection, store) -> TestDatabase.execute(connection, sql);
  }

  static Stream<Arguments> forms() {
    String insert = "insert into outbox_message " + COLUMNS;
    return Stream.of(
        Arguments.of(
            "append", (Insert) (c, store) -> store.append(c, List.of(message(), message()))),
        Arguments.of("VALUES", sql(insert + " values " + ROW)),
        Arguments.of("VALUES of many rows", sql(insert + " values " + ROW + ", " + ROW)),
        Arguments.of(
            "VALUES that name txid and seq",
            sql(
                "insert into outbox_message (payload, seq, aggregate_type, txid, aggregate_id, event_type)"
                    + " values ('', default, 'order', default, 'key', 'changed')")),
        Arguments.of(
            "SELECT in an order",
            sql(
                insert
                    + " select 'order', 'key ' || n, 'e', '' from generate_series(1, 5) n order by n desc")),
        Arguments.of(
            "WITH",
            sql(
                "with n as ("
                    + insert
                    + " values "
                    + ROW
                    + " returning seq) select count(*) from n")),
        Arguments.of("ON CONFLICT", sql(insert + " values " + ROW + " on conflict do nothing")),
        Arguments.of(
            "PREPARE",
            sql(
                "prepare p (text) as "
                    + insert
                    + " values ('order', $1, 'e', ''); execute p ('key'); deallocate p")),
        Arguments.of(
            "a function",
            sql(
                "create function f() returns void language plpgsql as $$ begin "
                    + insert
                    + " values "
                    + ROW
                    + "; end $$; select f()")),
        Arguments.of(
            "a view",
            sql(
                "create view v as select aggregate_type, aggregate_id, event_type, payload from outbox_message;"
                    + " insert into v values "
                    + ROW)),
        Arguments.of("a batch", (Insert) ColumnOrderTest::batch),
        Arguments.of("COPY", (Insert) ColumnOrderTest::copy));
  }

  private static void batch(Connection connection, JdbcOutboxStore store) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "insert into outbox_message " + COLUMNS + " values ('order', ?, 'changed', '')")) {
      for (int i = 0; i < 3; i++) {
        statement.setString(1, "key");
        statement.addBatch();
      }
      statement.executeBatch();
    }
  }

  private static void copy(Connection connection, JdbcOutboxStore store) throws Exception {
    long rows =
        connection
            .unwrap(PGConnection.class)
            .getCopyAPI()
            .copyIn(
                "copy outbox_message " + COLUMNS + " from stdin (format csv)",
                new StringReader("order,key,changed,x\norder,key,changed,y\n"));
    assertThat(rows).isEqualTo(2);
  }

  /** txid's default notes how far the sequence is when it is first computed. */
  @BeforeEach
  void prepare() {
    database.execute("insert into outbox_message " + COLUMNS + " values " + ROW);
    database.execute(
        """
        create function noting() returns xid8 language plpgsql stable as $$ begin
          if coalesce(current_setting('test.last', true), '') = '' then
            perform set_config('test.last',
              pg_sequence_last_value(pg_get_serial_sequence('outbox_message', 'seq')::regclass)::text, true);
          end if;
          return pg_current_xact_id();
        end $$
        """);
  }

  private String lastBefore(Insert insert) {
    database.inTransaction(
        false,
        connection -> {
          try {
            insert.with(connection, store);
            TestDatabase.execute(
                connection, "create table noted as select current_setting('test.last') as last");
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
    return database.query("select last from noted");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("forms")
  void idFirst(String form, Insert insert) {
    database.execute("alter table outbox_message alter column txid set default noting()");
    assertThat(lastBefore(insert))
        .as("the last sequence drawn when txid is computed")
        .isEqualTo("1");
  }

  @Test
  @DisplayName("no statement, had the column been added later")
  void addedLater() {
    database.execute(
        """
        alter table outbox_message drop column txid;
        alter table outbox_message add column txid xid8 default noting();
        """);
    database.execute("select setval(pg_get_serial_sequence('outbox_message', 'seq'), 1)");
    assertThat(lastBefore(sql("insert into outbox_message " + COLUMNS + " values " + ROW)))
        .isEqualTo("2");
  }

  @Test
  @DisplayName("no way of its own: seq is the database's to give, and a message has a transaction")
  void noOtherWay() {
    assertThatThrownBy(
            () ->
                database.execute(
                    "insert into outbox_message (seq, aggregate_type, aggregate_id, event_type, payload)"
                        + " values (1, 'order', 'key', 'e', '')"))
        .hasStackTraceContaining("GENERATED ALWAYS");
    assertThatThrownBy(
            () ->
                database.execute(
                    "insert into outbox_message (txid, aggregate_type, aggregate_id, event_type, payload)"
                        + " values (null, 'order', 'key', 'e', '')"))
        .hasStackTraceContaining("txid");
  }
}
