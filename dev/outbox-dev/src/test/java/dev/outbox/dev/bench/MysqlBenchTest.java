package dev.outbox.dev.bench;

import dev.outbox.embedded.DatabaseServer;
import java.util.Map;

class MysqlBenchTest extends BenchTest {
  @Override
  DatabaseServer server() {
    return DatabaseServer.mysql(Map.of("performance_schema", "ON")); // it counts row writes
  }

  @Override
  String name() {
    return "MySQL ";
  }
}
