package dev.outbox.store.postgres.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.time.Duration;

/** A process that is a relay with two workers, until it is told to end or killed. */
final class TortureRelay {
  private TortureRelay() {}

  public static void main(String[] args) throws Exception {
    Parent parent = Parent.connect();
    String process = parent.get("process");
    Duration lease = Duration.parse(parent.get("lease"));
    try (HikariDataSource pool = parent.pool(3);
        HikariDataSource writing = parent.pool(6)) {
      Journal journal = new Journal(writing);
      long seed = Long.parseLong(parent.get("seed"));
      Stops stops = new Stops(journal, lease, seed + 1);
      FaultyPublisher publisher = new FaultyPublisher(process, journal, lease.toMillis() * 2, seed);
      PostgresOutboxStore store =
          PostgresOutboxStore.of(Watched.dataSource(pool, stops::atStatement));
      Relay relay =
          Relay.builder(new JournalingStore(store, journal, stops), publisher)
              .name(process)
              .workers(2)
              .batchSize(20)
              .lease(lease)
              .idlePause(Duration.ofMillis(50))
              .retryPolicy(TortureRelay::policy)
              .blockKeyWhenDead(m -> is(m, Work.Kind.HALTING))
              .build();
      relay.start();
      parent.say("started");
      while (!parent.command().equals("end")) {
        publisher.calm();
        stops.calm();
      }
      relay.close();
    }
    parent.say("ended");
  }

  private static RetryPolicy policy(StoredMessage message) {
    return RetryPolicy.builder()
        .firstDelay(Duration.ofMillis(20))
        .maxDelay(Duration.ofMillis(300))
        .maxAttempts(is(message, Work.Kind.DOOMED) ? Work.DOOMED_ATTEMPTS : 1_000_000)
        .build();
  }

  private static boolean is(StoredMessage message, Work.Kind kind) {
    return message.problem() == null && message.message().eventType().equals(kind.name());
  }
}
