package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The same of both servers. */
class EmbeddedMysqlTest {

  @Nested
  @DisplayName("MySQL")
  class Mysql extends Both {
    @Override
    EmbeddedMysql.Builder builder() {
      return EmbeddedMysql.builder();
    }

    @Override
    String isolation() {
      return "transaction_isolation";
    }

    @Test
    @DisplayName("a setting given beats the default, by either of its names")
    void setting() throws Exception {
      try (EmbeddedMysql mysql =
          builder()
              .setting("innodb_redo_log_capacity", "16777216")
              .setting("innodb_buffer_pool_size", "33554432")
              .start()) {
        assertThat(variable(mysql, "innodb_redo_log_capacity")).isEqualTo("16777216");
        assertThat(variable(mysql, "innodb_buffer_pool_size")).isEqualTo("33554432");
      }
    }
  }

  @Nested
  @DisplayName("MariaDB")
  class Mariadb extends Both {
    @Override
    EmbeddedMysql.Builder builder() {
      return EmbeddedMysql.mariadb();
    }

    /** MariaDB knows MySQL's name for it from 11.1 on. */
    @Override
    String isolation() {
      return "tx_isolation";
    }

    @Test
    @DisplayName("is not a MySQL, and both drivers reach it")
    void drivers() throws Exception {
      try (EmbeddedMysql mariadb = builder().start()) {
        assertThat(variable(mariadb, "version")).contains("MariaDB");
        String url = mariadb.jdbcUrl().replace("jdbc:mysql:", "jdbc:mariadb:");
        try (Connection connection =
            DriverManager.getConnection(url, mariadb.user(), mariadb.password())) {
          assertThat(connection.getMetaData().getDriverName()).contains("MariaDB");
          assertThat(Sql.query(connection, "select database()")).containsExactly("outbox");
        }
      }
    }
  }

  abstract static class Both {
    abstract EmbeddedMysql.Builder builder();

    /** The variable that has a session's isolation level. */
    abstract String isolation();

    @Test
    @DisplayName("what was committed is there after SIGKILL and a restart")
    void survivesKill() throws Exception {
      try (EmbeddedMysql mysql = builder().start()) {
        assertThat(variable(mysql, "innodb_flush_log_at_trx_commit")).isEqualTo("1");
        assertThat(variable(mysql, "innodb_doublewrite")).isIn("ON", "1");
        assertThat(variable(mysql, "log_bin")).isEqualTo("0");
        Sql.execute(mysql, "create table t (n int)");
        List<String> committed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          Sql.execute(mysql, "insert into t values (" + i + ")");
          committed.add(Integer.toString(i));
          int port = mysql.port();

          mysql.kill();
          assertThatThrownBy(() -> Sql.query(mysql, "select 1")).isInstanceOf(SQLException.class);
          mysql.restart();

          assertThat(mysql.port()).isEqualTo(port);
          assertThat(Sql.query(mysql, "select n from t order by n")).isEqualTo(committed);
        }
      }
    }

    @Test
    @DisplayName("only 127.0.0.1 is listened on, and only with the password")
    void closedToOthers() throws Exception {
      try (EmbeddedMysql mysql = builder().start()) {
        assertThat(variable(mysql, "bind_address")).isEqualTo("127.0.0.1");
        assertThat(variable(mysql, "socket")).isEmpty();
        assertThat(
                Sql.query(
                    mysql,
                    "select concat(user, '@', host) from mysql.user where user not like '%.%'"))
            .containsExactly("root@127.0.0.1");
        for (String wrong : List.of("", "wrong")) {
          assertThatThrownBy(() -> DriverManager.getConnection(mysql.jdbcUrl(), "root", wrong))
              .hasMessageContaining("Access denied");
        }
      }
    }

    @Test
    @DisplayName("its user may create databases and users; the driver's metadata and texts work")
    void mayDoEverything() throws Exception {
      try (EmbeddedMysql mysql = builder().start();
          Connection connection = Sql.connect(mysql)) {
        Sql.execute(mysql, "create database other");
        Sql.execute(mysql, "create user someone identified by 'x'");
        Sql.execute(mysql, "grant select on other.* to someone");
        Sql.execute(mysql, "create table t (id int primary key, text varchar(9) charset utf8mb4)");
        String text = "\u00fc\ud83d\ude00";
        Sql.execute(mysql, "insert into t values (1, '" + text + "')");
        assertThat(Sql.query(connection, "select text from t")).containsExactly(text);
        assertThat(Sql.query(connection, "select hex(text) from t"))
            .containsExactly("C3BCF09F9880");
        assertThat(Sql.query(connection, "select regexp_replace('\u00fcber', '\\\\w+', 'gone')"))
            .containsExactly("gone");
        assertThat(connection.getTransactionIsolation())
            .isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        assertThat(Sql.query(connection, "select @@" + isolation()))
            .containsExactly("READ-COMMITTED");
        DatabaseMetaData metaData = connection.getMetaData();
        try (var keys = metaData.getPrimaryKeys("outbox", null, "t")) {
          assertThat(keys.next()).isTrue();
          assertThat(keys.getString("COLUMN_NAME")).isEqualTo("id");
        }
        assertThatThrownBy(() -> Sql.execute(mysql, "selec 1")).hasMessageContaining("syntax");
      }
    }

    @Test
    @DisplayName("after close no process and no file is left")
    void closeLeavesNothing() throws Exception {
      EmbeddedMysql mysql = builder().start();
      long pid = mysql.pid();
      Path directory = mysql.directory();
      assertThat(directory).exists();
      assertThat(EmbeddedPostgresTest.isRunning(pid)).isTrue();
      mysql.close();
      assertThat(EmbeddedPostgresTest.isRunning(pid)).isFalse();
      assertThat(directory).doesNotExist();
      mysql.close();
    }

    @Test
    @DisplayName("a setting that it does not know is an error with what it said")
    void badSetting() {
      assertThatThrownBy(() -> builder().setting("no_such_setting", "1").start())
          .hasMessageContaining("while starting")
          .hasMessageContaining("no_such_setting");
    }
  }

  @Test
  @DisplayName("a JVM that halts, and one that is killed, leave no server and no files")
  void jvmEnds() throws Exception {
    OtherJvm.assertLeavesNothing(EmbeddedMysqlTest.class, OtherJvm.End.HALT);
    OtherJvm.assertLeavesNothing(EmbeddedMysqlTest.class, OtherJvm.End.KILL);
  }

  /** Starts a server in a JVM of its own, for {@link OtherJvm}. */
  public static void main(String[] args) throws Exception {
    EmbeddedMysql mysql = EmbeddedMysql.builder().start();
    OtherJvm.run(mysql.pid(), mysql.directory());
  }

  private static String variable(EmbeddedMysql mysql, String name) throws SQLException {
    return Sql.query(mysql, "select @@" + name).get(0);
  }
}
