package dev.outbox.dev.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.MessagePublisher;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** A process that is a relay, until it is told to end or killed. */
final class RelayMain {
  static final Duration LEASE = Duration.ofSeconds(3);
  static final Duration LONGEST_RETRY = Duration.ofSeconds(1);
  private static final Duration FIRST_RETRY = Duration.ofMillis(50);
  private static final Duration IDLE_PAUSE = Duration.ofMillis(100);
  private static final Duration PUBLISH_TIMEOUT = Duration.ofMillis(1_500);
  private static final Duration SLOW = Duration.ofSeconds(8);
  private static final int WORKERS = 2;
  private static final int BATCH = 50;

  /** How often a worker settles only when its lease may be over. */
  private static final double LATE = 0.01;

  private final Child child;
  private final Random late;
  private volatile boolean calm;

  private RelayMain(Child child) {
    this.child = child;
    late = new Random(child.seed() + 1);
  }

  public static void main(String[] args) throws Exception {
    try (Child child = Child.connect()) {
      new RelayMain(child).run();
    }
  }

  private void run() throws InterruptedException {
    Repairs repairs = new Repairs(child.directory());
    MessagePublisher broker = child.broker().publisher(PUBLISH_TIMEOUT);
    try (HikariDataSource pool = child.pool(WORKERS + 1);
        TroubledPublisher publisher =
            new TroubledPublisher(
                broker, child.journal(), repairs, SLOW.toMillis(), child.seed())) {
      JournalingStore store =
          new JournalingStore(
              child.store(pool), child.journal(), new AtomicLong(), this::perhapsLate);
      Relay relay =
          Relay.builder(store, publisher)
              .name(child.name())
              .workers(WORKERS)
              .batchSize(BATCH)
              .lease(LEASE)
              .idlePause(IDLE_PAUSE)
              .retryPolicy(RelayMain::policy)
              .haltKeyWhenDead(m -> kind(m) == Work.Kind.HALTING)
              .build();
      child.say(Child.STARTED);
      Thread starting = new Thread(() -> start(relay), "start");
      starting.setDaemon(true);
      starting.start();
      for (String command = child.command();
          !command.equals(Child.END);
          command = child.command()) {
        String[] words = command.split(" ");
        switch (words[0]) {
          case Child.PAUSE -> calm(publisher, true);
          case Child.GO_ON -> calm(publisher, false);
          case Child.EXHAUST -> Child.exhaust(pool, Long.parseLong(words[1]));
          default -> throw new IllegalArgumentException(command);
        }
      }
      relay.close();
    }
  }

  private void calm(TroubledPublisher publisher, boolean yes) {
    calm = yes;
    publisher.calm(yes);
  }

  /**
   * The database may be away: as a supervisor that starts a process anew, until the relay is
   * closed.
   */
  private static void start(Relay relay) {
    try {
      while (true) {
        try {
          relay.start();
          return;
        } catch (OutboxException e) {
          System.err.println("not started yet: " + e.getMessage());
          Thread.sleep(IDLE_PAUSE.toMillis());
        }
      }
    } catch (IllegalStateException | InterruptedException e) {
      // closed before the database came back
    }
  }

  private void perhapsLate() {
    if (!calm && late.nextDouble() < LATE) {
      child.journal().write("trouble", "settles-late");
      try {
        Thread.sleep((long) (LEASE.toMillis() * (0.8 + late.nextDouble())));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RetryPolicy policy(StoredMessage message) {
    return RetryPolicy.builder()
        .firstDelay(FIRST_RETRY)
        .maxDelay(LONGEST_RETRY)
        .maxAttempts(Work.attempts(kind(message)))
        .build();
  }

  private static Work.Kind kind(StoredMessage message) {
    return Work.Kind.valueOf(message.message().eventType());
  }
}
