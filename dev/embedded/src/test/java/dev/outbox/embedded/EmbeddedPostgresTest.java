package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What all embedded servers have in common is shown on this one. */
class EmbeddedPostgresTest {

  @Test
  @DisplayName("what was committed is there after SIGKILL and a restart")
  void survivesKill() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      assertThat(Sql.query(postgres, "show fsync")).containsExactly("on");
      assertThat(Sql.query(postgres, "show synchronous_commit")).containsExactly("on");
      assertThat(Sql.query(postgres, "show full_page_writes")).containsExactly("on");
      Sql.execute(postgres, "create table t (n int)");
      List<String> committed = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Sql.execute(postgres, "insert into t values (" + i + ")");
        committed.add(Integer.toString(i));
        int port = postgres.port();

        postgres.kill();
        assertThatThrownBy(() -> Sql.query(postgres, "select 1")).isInstanceOf(SQLException.class);
        postgres.restart();

        assertThat(postgres.port()).isEqualTo(port);
        assertThat(Sql.query(postgres, "select n from t order by n")).isEqualTo(committed);
      }
    }
  }

  @Test
  @DisplayName("a killed server with busy connections leaves no process behind")
  void killEndsBackends() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start();
        Connection connection = Sql.connect(postgres)) {
      long backend = Long.parseLong(Sql.query(connection, "select pg_backend_pid()").get(0));
      assertThat(isRunning(backend)).isTrue();
      postgres.kill();
      assertThat(isRunning(backend)).isFalse();
    }
  }

  @Test
  @DisplayName("a server that is killed while it starts backends leaves none: the next one starts")
  void killBesideConnects() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      AtomicBoolean over = new AtomicBoolean();
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        clients.add(CompletableFuture.runAsync(() -> connect(postgres, over)));
      }
      for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 30; i++) {
          Connection stays = Sql.connect(postgres);
          Sql.query(stays, "select count(*) from pg_class");
        }
        postgres.kill();
        postgres.restart();
      }
      over.set(true);
      clients.forEach(CompletableFuture::join);
    }
  }

  private static void connect(EmbeddedPostgres postgres, AtomicBoolean over) {
    while (!over.get()) {
      try (Connection connection = Sql.connect(postgres)) {
        assertThat(connection.isClosed()).isFalse();
      } catch (SQLException e) {
        // it was killed, or starts
      }
    }
  }

  @Test
  @DisplayName("only 127.0.0.1 is listened on, and only with the password")
  void closedToOthers() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start()) {
      assertThat(Sql.query(postgres, "show listen_addresses")).containsExactly("127.0.0.1");
      assertThatThrownBy(() -> DriverManager.getConnection(postgres.jdbcUrl(), "postgres", "wrong"))
          .hasMessageContaining("authentication failed");
    }
  }

  @Test
  @DisplayName("after close no process and no file is left")
  void closeLeavesNothing() throws Exception {
    EmbeddedPostgres postgres = EmbeddedPostgres.start();
    long postmaster = postgres.pid();
    Path directory = postgres.directory();
    assertThat(directory).exists();
    assertThat(isRunning(postmaster)).isTrue();
    postgres.close();
    assertThat(isRunning(postmaster)).isFalse();
    assertThat(directory).doesNotExist();
    postgres.close();
    assertThatThrownBy(postgres::pause).hasMessageContaining("PostgreSQL does not run");
  }

  @Test
  @DisplayName("a setting that PostgreSQL does not know is an error with what it said")
  void badSetting() {
    assertThatThrownBy(() -> EmbeddedPostgres.builder().setting("no_such_setting", "1").start())
        .hasMessageContaining("while starting")
        .hasMessageContaining("no_such_setting");
  }

  @Test
  @DisplayName("a JVM that exits, and one that is killed, leave no server and no files")
  void jvmEnds() throws Exception {
    for (OtherJvm.End end : OtherJvm.End.values()) {
      OtherJvm.assertLeavesNothing(end);
    }
  }

  static boolean isRunning(long pid) {
    return ProcessHandle.of(pid).filter(p -> p.info().command().isPresent()).isPresent();
  }
}
