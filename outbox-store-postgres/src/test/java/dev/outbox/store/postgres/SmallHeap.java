package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The other end of {@link SmallHeapTest}: a relay with its defaults. */
final class SmallHeap {
  private SmallHeap() {}

  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(parent.get("url"));
    hikari.setUsername(parent.get("user"));
    hikari.setPassword(parent.get("password"));
    hikari.setMaximumPoolSize(Relay.Builder.DEFAULT_WORKERS + 1);
    hikari.addDataSourceProperty("currentSchema", parent.get("schema"));
    AtomicInteger delivered = new AtomicInteger();
    int all = Integer.parseInt(parent.get("messages"));
    RelayListener listener =
        event -> {
          if (event instanceof RelayEvent.Delivered) {
            if (delivered.incrementAndGet() == all) {
              parent.say("delivered all");
            }
          } else if (event instanceof RelayEvent.StoreFailed failed) {
            parent.say(failed.operation() + " failed: " + failed.error());
          } else if (event instanceof RelayEvent.PublisherBroken broken) {
            parent.say(broken.problem());
          }
        };
    try (HikariDataSource pool = new HikariDataSource(hikari);
        Relay relay =
            Relay.builder(PostgresOutboxStore.of(pool), copying()).listener(listener).build()) {
      relay.start();
      String ignored = parent.command();
    }
  }

  /** Holds a copy of each payload for the time of a call, as a broker's client does. */
  private static MessagePublisher copying() {
    return messages -> {
      List<byte[]> copies = new ArrayList<>();
      messages.forEach(m -> copies.add(m.message().payload().clone()));
      return copies.stream().map(copy -> Result.delivered()).toList();
    };
  }
}
