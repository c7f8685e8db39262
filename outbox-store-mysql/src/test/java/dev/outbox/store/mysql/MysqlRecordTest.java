package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.TransientOutboxException;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.store.jdbc.JdbcInboxStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** I1 and I2 in a caller's transaction at REPEATABLE READ, MySQL's default. */
@ParameterizedClass
@EnumSource
@DisplayName("A message of an inbox, at REPEATABLE READ,")
class MysqlRecordTest extends RepeatableReadTests {
  private static final InboxKey KEY = key("m");

  private JdbcInboxStore inbox;

  MysqlRecordTest(Tested tested) {
    super(tested, "inbox_message");
  }

  @BeforeEach
  void migrate() {
    inbox = tested().inbox(database.pool).build();
    inbox.migrate();
  }

  private static InboxKey key(String messageId) {
    return new InboxKey("shipping", messageId);
  }

  @Override
  boolean isFirst(Connection transaction, String name) {
    return inbox.firstTime(transaction, key(name));
  }

  @Test
  @DisplayName("is one statement the first time, and two when it comes again")
  void statements() throws SQLException {
    inbox.verify();
    try (Connection connection = begin()) {
      long before = statements(connection);
      assertThat(inbox.firstTime(connection, KEY)).isTrue();
      long between = statements(connection);
      assertThat(inbox.firstTime(connection, KEY)).isFalse();
      long after = statements(connection);
      assertThat(between - before - 1).as("statements of a first time").isEqualTo(1);
      assertThat(after - between - 1).as("statements of a repetition").isEqualTo(2);
      connection.rollback();
    }
  }

  /** So many of this session, this one included. */
  private static long statements(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show session status like 'Questions'")) {
      rows.next();
      return rows.getLong(2);
    }
  }

  @Test
  @DisplayName("that was recorded after the caller's snapshot is a repetition")
  void recordedAfterTheSnapshot() throws SQLException {
    try (Connection late = begin()) {
      takeSnapshot(late);
      database.inTransaction(false, c -> assertThat(inbox.firstTime(c, KEY)).isTrue());
      boolean first;
      try {
        first = inbox.firstTime(late, KEY);
      } catch (TransientOutboxException e) {
        late.rollback(); // MariaDB 11.6 and newer say: run it again
        first = inbox.firstTime(late, KEY);
      }
      assertThat(first).isFalse();
      assertThat(inbox.firstTime(late, key("other"))).as("the transaction goes on").isTrue();
      late.commit();
    }
    database.inTransaction(false, c -> assertThat(inbox.firstTime(c, key("other"))).isFalse());
  }

  @Test
  @DisplayName("whose lock ran out after the caller's snapshot is taken over")
  void ranOutAfterTheSnapshot() throws SQLException {
    try (Connection late = begin()) {
      Begin<Connection> begin = inbox.begin(KEY, Duration.ofMinutes(1));
      Lock<Connection> lock = ((Begin.Started<Connection>) begin).lock();
      takeSnapshot(late);
      assertThat(lock.release("refused")).isTrue();
      try {
        assertThat(inbox.firstTime(late, KEY)).isTrue();
      } catch (TransientOutboxException e) {
        late.rollback();
        assertThat(inbox.firstTime(late, KEY)).isTrue();
      }
      late.commit();
      assertThat(inbox.begin(KEY, Duration.ofMinutes(1))).isInstanceOf(Begin.Done.class);
    }
  }
}
