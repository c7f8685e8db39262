package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.InboxStore.InboxStatistics;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The inbox")
class InboxTest extends DatabaseTest {
  private static final InboxKey KEY = new InboxKey("shipping", "1");
  private static final int MANY = 20_000;

  private PostgresInboxStore inbox;

  @BeforeEach
  void migrate() {
    inbox = PostgresInboxStore.of(database.pool);
    inbox.migrate();
  }

  @Test
  @DisplayName("in a transaction with an older snapshot says: run it again")
  void olderSnapshot() throws SQLException {
    try (Connection late = database.pool.getConnection()) {
      late.setAutoCommit(false);
      late.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (Statement statement = late.createStatement();
          ResultSet row = statement.executeQuery("select count(*) from inbox_message")) {
        assertThat(row.next()).isTrue();
      }
      database.inTransaction(false, c -> assertThat(inbox.firstTime(c, KEY)).isTrue());
      assertThatThrownBy(() -> inbox.firstTime(late, KEY))
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageContaining("run it again");
      late.rollback();
      assertThat(inbox.firstTime(late, KEY)).isFalse();
      late.rollback();
      late.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }
  }

  @Test
  @DisplayName("keeps why a key was released, for people")
  void keepsTheError() {
    Begin<Connection> begin = inbox.begin(KEY, Duration.ofMinutes(1));
    ((Begin.Started<Connection>) begin).lock().release("refused: \u0000");
    assertThat(database.query("select last_error from inbox_message")).isEqualTo("refused: \uFFFD");
  }

  @Test
  @DisplayName("purges in small steps, and only what has expired")
  void purges() {
    fill("statement_timestamp() - interval '1 second'");
    database.inTransaction(false, c -> assertThat(inbox.firstTime(c, KEY)).isTrue());
    inbox.housekeep();
    assertThat(database.query("select count(*) from inbox_message")).isEqualTo("1");
  }

  /** Also where the planner knows only what was there when the table was empty. */
  @Test
  @DisplayName("reads little to count and to purge, however much is done")
  void readsLittle() {
    fill("statement_timestamp() + interval '1 day'");
    Begin<Connection> begin = inbox.begin(KEY, Duration.ofMinutes(1));
    assertThat(begin).isInstanceOf(Begin.Started.class);
    for (String statistics : new String[] {"select 1", "vacuum analyze inbox_message"}) {
      database.execute(statistics);
      TestDatabase session = database.withOneConnection();
      try {
        PostgresInboxStore counted = PostgresInboxStore.of(session.pool);
        counted.verify();
        Reads reads = new Reads(session);
        long before = reads.rows();
        assertThat(counted.statistics(100)).isEqualTo(new InboxStatistics(100, 1, 0, 0));
        counted.housekeep();
        session.inTransaction(
            false,
            c -> assertThat(counted.firstTime(c, new InboxKey("shipping", statistics))).isTrue());
        assertThat(reads.rows() - before).as("rows and index entries read").isLessThan(100);
      } finally {
        session.pool.close();
      }
    }
  }

  private void fill(String expiresAt) {
    database.execute(
        "insert into inbox_message (consumer, message_id, state, attempts, expires_at)"
            + " select 'shipping', 'm' || n, 'DONE', 1, %s from generate_series(1, %d) n"
                .formatted(expiresAt, MANY));
  }
}
