package dev.outbox.debezium.engine;

import dev.outbox.embedded.DatabaseServer;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Debezium with the transform, on MySQL")
class MysqlEngineTest extends EngineTests {
  private static DatabaseServer server;

  @BeforeAll
  static void start() {
    server =
        DatabaseServer.mysql(
            Map.of(
                "log_bin", "binlog",
                "server_id", "1",
                "binlog_format", "ROW",
                "binlog_row_image", "FULL"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  Source source() {
    return new Source.Mysql(server);
  }
}
