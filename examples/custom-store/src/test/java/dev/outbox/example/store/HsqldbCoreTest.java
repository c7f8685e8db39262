// tag::test
package dev.outbox.example.store;

import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.OutboxStoreTck;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.function.Consumer;
import org.hsqldb.jdbc.JDBCDataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** What the suite needs to know of a store. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HsqldbCoreTest extends OutboxStoreTck<Connection> {
  final JDBCDataSource dataSource = new JDBCDataSource();

  @BeforeAll
  void createTables() {
    dataSource.setUrl("jdbc:hsqldb:mem:" + UUID.randomUUID());
    dataSource.setUser("sa");
    new HsqldbOutboxStore(dataSource).migrate();
  }

  @Override
  protected OutboxStore<Connection> createStore() {
    return new HsqldbOutboxStore(dataSource);
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    try (Connection connection = dataSource.getConnection()) {
      connection.setAutoCommit(false);
      try {
        work.accept(connection);
        connection.commit();
      } finally {
        connection.rollback(); // does nothing after the commit
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void reset() {
    inTransaction(
        connection -> {
          execute(connection, "delete from outbox_message");
          execute(connection, "delete from outbox_dedup");
        });
  }

  static void execute(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
// end::test
