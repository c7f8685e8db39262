package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rest is shown by what each server has in common, and by the stores' TCK. */
class EmbeddedMysqlTest {

  @Test
  @DisplayName("a setting given beats the default, by either of its names")
  void setting() throws Exception {
    try (EmbeddedMysql mysql =
        EmbeddedMysql.builder()
            .setting("innodb_redo_log_capacity", "16777216")
            .setting("innodb_buffer_pool_size", "33554432")
            .start()) {
      assertThat(variable(mysql, "innodb_redo_log_capacity")).isEqualTo("16777216");
      assertThat(variable(mysql, "innodb_buffer_pool_size")).isEqualTo("33554432");
    }
  }

  @Test
  @DisplayName("MariaDB is not a MySQL, and both drivers reach it")
  void drivers() throws Exception {
    try (EmbeddedMysql mariadb = EmbeddedMysql.mariadb().start()) {
      assertThat(variable(mariadb, "version")).contains("MariaDB");
      String url = mariadb.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mysql:");
      try (Connection connection =
          DriverManager.getConnection(url, mariadb.user(), mariadb.password())) {
        assertThat(connection.getMetaData().getDriverName()).contains("MySQL");
        assertThat(Sql.query(connection, "select database()")).containsExactly("outbox");
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  @DisplayName("only 127.0.0.1 is listened on, and only with the password")
  void closedToOthers(MysqlKind kind) throws Exception {
    try (EmbeddedMysql mysql = builder(kind).start()) {
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

  @ParameterizedTest
  @EnumSource
  @DisplayName("a setting that it does not know is an error with what it said")
  void badSetting(MysqlKind kind) {
    assertThatThrownBy(() -> builder(kind).setting("no_such_setting", "1").start())
        .hasMessageContaining("while starting")
        .hasMessageContaining("no_such_setting");
  }

  private static EmbeddedMysql.Builder builder(MysqlKind kind) {
    return kind == MysqlKind.MYSQL ? EmbeddedMysql.builder() : EmbeddedMysql.mariadb();
  }

  private static String variable(EmbeddedMysql mysql, String name) throws SQLException {
    return Sql.query(mysql, "select @@" + name).get(0);
  }
}
