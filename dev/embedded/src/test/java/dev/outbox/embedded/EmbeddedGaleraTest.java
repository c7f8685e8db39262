package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class EmbeddedGaleraTest {

  private static EmbeddedGalera start() {
    try {
      return EmbeddedGalera.start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  @Test
  @DisplayName("a cluster has three nodes, and two of them what the third had committed")
  void lives() throws SQLException {
    List<Path> directories;
    try (EmbeddedGalera cluster = start()) {
      List<EmbeddedMysql> nodes = cluster.nodes();
      directories = nodes.stream().map(node -> node.log().getParent()).toList();
      for (EmbeddedMysql node : nodes) {
        assertThat(
                Sql.query(
                    node,
                    """
                    select concat(variable_value, ' ', @@innodb_flush_log_at_trx_commit)
                    from information_schema.global_status
                    where variable_name = 'wsrep_cluster_size'
                    """))
            .containsExactly("3 1");
      }
      Sql.execute(nodes.get(0), "create table t (id int primary key)");
      Sql.execute(nodes.get(0), "insert into t values (7)");
      nodes.get(0).kill();
      for (EmbeddedMysql node : nodes.subList(1, 3)) {
        String waits = node.jdbcUrl() + "&sessionVariables=wsrep_sync_wait=1";
        try (Connection connection =
            DriverManager.getConnection(waits, node.user(), node.password())) {
          assertThat(Sql.query(connection, "select id from t")).containsExactly("7");
        }
      }
    }
    assertThat(directories).hasSize(3).noneMatch(directory -> directory.toFile().exists());
  }
}
