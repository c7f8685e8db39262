package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Archive;
import dev.outbox.PermanentOutboxException;
import dev.outbox.SchemaException;
import dev.outbox.store.jdbc.SchemaTests;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@EnumSource
@DisplayName("The schema")
class MysqlSchemaTest extends SchemaTests {
  MysqlSchemaTest(Tested tested) {
    super(tested);
  }

  @Override
  protected void dropSchema(String name) {
    database.execute("drop schema " + name);
  }

  @Override
  protected void runByHand(TestDatabase in, String ddl) {
    boolean mariadb = store instanceof MariadbOutboxStore;
    in.run(mariadb ? ddl.replace("_0900_bin", "_nopad_bin") : ddl);
  }

  @Test
  @DisplayName("is made where each table needs a primary key, also Liquibase's own")
  void primaryKeys() {
    assumeTrue(tested() == Tested.MYSQL, "on MariaDB the whole server would demand it");
    HikariConfig config = new HikariConfig();
    database.pool.copyStateTo(config);
    config.setConnectionInitSql("set sql_require_primary_key = on");
    try (HikariDataSource pool = new HikariDataSource(config)) {
      builder(pool).archive(Archive.FULL).build().migrate();
      tested().inbox(pool).build().migrate();
    }
    store.verify();
  }

  @ParameterizedTest
  @ValueSource(strings = {"outbox_message", "outbox_pause"})
  @DisplayName("does not take a table for its own that has only the name")
  void foreignTable(String table) {
    database.execute("create table " + table + " (number integer)");
    assertThatThrownBy(store::migrate)
        .isInstanceOf(PermanentOutboxException.class)
        .hasMessageContaining("Unknown column");
    assertThatThrownBy(store::verify).isInstanceOf(SchemaException.class);
  }

  @Override
  protected List<Pretence> pretences() {
    return List.of(
        new Pretence("TiDB", Map.of("version()", "'8.0.11-TiDB-v8.5.6'"), "a read without locks"),
        new Pretence(
            "TiDB",
            Map.of("@@version_comment", "'TiDB Server (Apache License 2.0) Community Edition'"),
            "a read without locks"),
        new Pretence(
            "Vitess", Map.of("version()", "'8.4.6-Vitess'"), "have no sequence in common"));
  }

  /** A script's statements, of which each ends with a line. */
  @Override
  protected String catalog(TestDatabase of) {
    String tables =
        of.query(
            "select group_concat(table_name order by table_name) from information_schema.tables"
                + " where table_schema = database() and table_name not like '%databasechangelog%'");
    return Stream.of(tables.split(","))
        .map(table -> created(of, table))
        .collect(Collectors.joining("\n"));
  }

  private static String created(TestDatabase in, String table) {
    try (Connection connection = in.pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("show create table " + table)) {
      rows.next();
      return rows.getString(2);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
