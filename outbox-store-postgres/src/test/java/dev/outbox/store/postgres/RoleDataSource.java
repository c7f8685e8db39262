package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.store.jdbc.TestDatabase;
import java.sql.Connection;
import javax.sql.DataSource;

/** Connections that have taken a role, and give it back when they are closed. */
final class RoleDataSource {
  private RoleDataSource() {}

  static DataSource of(DataSource pool, String role) {
    return Intercepted.of(
        pool,
        (target, method, arguments) -> {
          if (target instanceof Connection connection && method.getName().equals("close")) {
            if (!connection.getAutoCommit()) {
              connection.rollback();
              connection.setAutoCommit(true); // or what follows would be rolled back
            }
            TestDatabase.execute(connection, "reset role");
          }
          Object result = method.invoke(target, arguments);
          if (target == pool && result instanceof Connection connection) {
            TestDatabase.execute(connection, "set role " + role);
          }
          return result;
        });
  }
}
