package dev.outbox.store.mysql;

import static dev.outbox.store.mysql.Database.byMysqlsDriver;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.PermanentOutboxException;
import dev.outbox.store.jdbc.ErrorsTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import dev.outbox.tck.internal.Jdbc;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@EnumSource
@DisplayName("One sentence each, and no password, for")
class MysqlErrorsTest extends ErrorsTests {
  private final Tested tested;

  MysqlErrorsTest(Tested tested) {
    super(tested, tested.flavor.title);
    this.tested = tested;
  }

  @Test
  @DisplayName("a database that does not exist")
  void noDatabase() {
    String user = database.schema() + "_u";
    database.execute(
        "create user %s identified by '%s'".formatted(user, PASSWORD),
        "grant all privileges on *.* to " + user);
    try {
      refused(
          storeAt(
              database.server().jdbcUrl().replaceFirst("/[^/?]*(\\?.*)?$", "/no_such_database$1"),
              user));
    } finally {
      database.execute("drop user " + user);
    }
  }

  private void assertReadOnly(Connection connection) throws SQLException {
    assertThatThrownBy(() -> store.append(connection, message()))
        .isInstanceOf(OutboxException.class)
        .hasMessageStartingWith("the transaction is read-only, and this needs one that may write");
    assertThat(connection.isClosed()).isFalse();
    connection.rollback();
  }

  @Test
  @DisplayName("a read-only transaction's append, and the caller's connection stays the caller's")
  void readOnly() throws SQLException {
    try (Connection connection = database.pool.getConnection()) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.execute("set transaction read only");
      }
      assertReadOnly(connection);
      connection.setReadOnly(true);
      assertReadOnly(connection);
      connection.setReadOnly(false);
      assertThat(store.append(connection, message()).allStored()).isTrue();
      connection.rollback();
    }
  }

  @Test
  @DisplayName("a server of the other kind: which store to use")
  void otherServer() {
    JdbcOutboxStore wrong = wrong();
    saysWhichToUse(
        wrong::verify,
        wrong::migrate,
        () -> wrong.claim(request()),
        () -> database.inTransaction(false, c -> wrong.append(c, message())));
    database.empty();
    saysWhichToUse(wrong::verify, wrong::migrate);
    assertThat(
            database.query(
                "select count(*) from information_schema.tables where table_schema = '%s'"
                    .formatted(database.schema())))
        .as("tables")
        .isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "characterEncoding=latin1",
        "connectionCollation=latin1_swedish_ci",
        "connectionCollation=utf8mb3_general_ci"
      })
  @DisplayName("a connection that would lose characters")
  void losesCharacters(String setting) {
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    byMysqlsDriver(config); // MariaDB's refuses such settings
    config.setJdbcUrl(
        config.getJdbcUrl() + (config.getJdbcUrl().contains("?") ? "&" : "?") + setting);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      JdbcOutboxStore loses = builder(pool).build();
      for (ThrowingCallable call :
          List.<ThrowingCallable>of(
              loses::verify,
              () -> loses.claim(request()),
              () -> Jdbc.inTransaction(pool, c -> loses.append(c, message())))) {
        assertThatThrownBy(call)
            .isInstanceOf(PermanentOutboxException.class)
            .hasMessageContaining("would lose characters");
      }
    }
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("0");
  }

  @Test
  @DisplayName("a session of MariaDB's in which a text without characters is none")
  void emptyIsNull() {
    assumeThat(tested).isEqualTo(Tested.MARIADB);
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    config.setConnectionInitSql("set sql_mode = 'EMPTY_STRING_IS_NULL'");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      JdbcOutboxStore finds = builder(pool).build();
      assertThatThrownBy(() -> finds.claim(request()))
          .isInstanceOf(PermanentOutboxException.class)
          .hasMessageContaining("EMPTY_STRING_IS_NULL");
    }
  }

  private JdbcOutboxStore wrong() {
    return tested == Tested.MYSQL
        ? MariadbOutboxStore.of(database.pool)
        : MysqlOutboxStore.of(database.pool);
  }

  private void saysWhichToUse(ThrowingCallable... calls) {
    for (ThrowingCallable call : List.of(calls)) {
      assertThatThrownBy(call)
          .isInstanceOf(OutboxException.class)
          .hasMessageContaining(
              "use %s", tested == Tested.MYSQL ? "MysqlOutboxStore" : "MariadbOutboxStore");
    }
  }
}
