package dev.outbox.debezium.engine;

import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.TestServer;
import java.util.LinkedHashMap;
import java.util.Map;

/** A {@link DebeziumProcess}. */
final class Engine implements AutoCloseable {
  private static final int HEAP_MIB = 384;

  private final ChildJvm child;

  private Engine(ChildJvm child) {
    this.child = child;
  }

  static Engine start(TestServer kafka, Map<String, String> settings) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put(DebeziumProcess.BOOTSTRAP, kafka.address());
    settings.forEach((name, value) -> all.put(DebeziumProcess.ENGINE + name, value));
    return new Engine(ChildJvm.start(DebeziumProcess.class, all, HEAP_MIB));
  }

  /** Waits until it has published so many, repetitions counted. */
  void awaitPublished(long records) {
    while (true) {
      String line = child.line();
      if (line.startsWith(DebeziumProcess.PUBLISHED)
          && Long.parseLong(line.substring(DebeziumProcess.PUBLISHED.length())) >= records) {
        return;
      }
    }
  }

  /** SIGKILL. */
  @Override
  public void close() {
    child.close();
  }
}
