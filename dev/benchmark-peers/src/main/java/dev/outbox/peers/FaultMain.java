package dev.outbox.peers;

import dev.outbox.cli.Address;
import dev.outbox.embedded.ParentJvm;
import java.util.concurrent.locks.LockSupport;

/**
 * One instance of an application with an outbox, in a process of its own that can be killed and
 * stopped. It appends messages of its own keys, and publishes what its outbox gives it.
 */
public final class FaultMain {
  static final String READY = "ready";
  static final String APPEND = "append";
  static final String REST = "rest";

  /** Messages a second. */
  private static final int RATE = 100;

  private static final int KEYS = 20;

  private FaultMain() {}

  public static void main(String[] arguments) throws Exception {
    System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    ParentJvm parent = ParentJvm.connect();
    Address address = new Address(parent.get("url"), parent.get("user"), parent.get("password"));
    Contender contender =
        Faults.CONTENDERS.stream()
            .filter(one -> one.name().equals(parent.get("contender")))
            .findFirst()
            .orElseThrow();
    String schema = parent.get("schema");
    try (Deliveries deliveries =
            new Deliveries(Schema.pool(address, schema, Contender.CONNECTIONS));
        Schema.Pool pool = Schema.pool(address, schema, contender.connections());
        App app = contender.run(pool.dataSource(), Recorder.opened(deliveries::add))) {
      app.begin();
      parent.say(READY);
      int appended = 0;
      while (true) {
        String command = parent.command();
        while (command.equals(APPEND)) {
          OrderPlaced message =
              OrderPlaced.of(parent.get("name") + appended % KEYS, appended / KEYS);
          appended++;
          app.place(message);
          LockSupport.parkNanos(1_000_000_000L / RATE);
          String next = parent.next();
          command = next == null ? command : next;
        }
        parent.say(REST);
      }
    }
  }
}
