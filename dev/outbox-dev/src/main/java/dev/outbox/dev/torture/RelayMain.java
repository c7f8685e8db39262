package dev.outbox.dev.torture;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.database.Tortured;
import dev.outbox.dev.database.Work;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.OutboxStore;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A process that is a relay and appends too, until it is told to end or killed. Two of three keep
 * keys, and hand over what they have committed, where the store can.
 *
 * <p>It writes down "handed-over" for each append that was handed over as a whole.
 */
final class RelayMain {
  static final Duration LEASE = Duration.ofSeconds(3);
  static final Duration LONGEST_RETRY = Duration.ofSeconds(1);
  private static final Duration FIRST_RETRY = Duration.ofMillis(50);
  private static final Duration IDLE_PAUSE = Duration.ofMillis(100);
  private static final Duration PUBLISH_TIMEOUT = Duration.ofMillis(1_500);
  private static final int SLOW_TO_TELL_MILLIS = 100;
  private static final int WORKERS = 2;
  private static final int PRODUCERS = 2;
  private static final int BATCH = 50;

  /** Of messages that do not say themselves how often they are tried. */
  private static final RetryPolicy POLICY =
      RetryPolicy.builder()
          .firstDelay(FIRST_RETRY)
          .maxDelay(LONGEST_RETRY)
          .maxAttempts(Work.attempts(Work.Kind.PLAIN))
          .build();

  /** How often a worker settles only when its lease may be over. */
  private static final double LATE = 0.01;

  private final Child child;
  private final Random random;

  /** Of what was delivered last: if any key is kept here, it is this one. */
  private volatile @Nullable String lastKey;

  private RelayMain(Child child) {
    this.child = child;
    random = new Random(child.seed() + 1);
  }

  public static void main(String[] args) throws Exception {
    try (Child child = new Child();
        Tortured<?> place = child.place(WORKERS + 1 + PRODUCERS)) {
      new RelayMain(child).run(place);
    }
  }

  private <T> void run(Tortured<T> place) throws InterruptedException {
    try (MessagePublisher broker = child.broker().publisher(PUBLISH_TIMEOUT)) {
      MessagePublisher publisher = new TroubledPublisher(broker, child);
      OutboxStore<T> store = JournalingStore.of(place.store(), child.journal, this::perhapsLate);
      Relay relay =
          Relay.builder(store, publisher)
              .name(child.name())
              .workers(WORKERS)
              .batchSize(BATCH)
              .lease(LEASE)
              .idlePause(IDLE_PAUSE)
              .retryPolicy(POLICY)
              .haltKeyWhenDead(List.of(Work.HALTING_TOPIC))
              .listener(
                  event -> {
                    if (event instanceof RelayEvent.Delivered delivered) {
                      lastKey = delivered.message().message().recordKey();
                    }
                  })
              .build();
      Thread starting = new Thread(() -> start(relay), "start");
      starting.setDaemon(true);
      starting.start();
      Producers<T> producers =
          new Producers<>(
              child,
              PRODUCERS,
              place,
              () -> place.begin((transaction, all) -> append(relay, store, transaction, all)),
              () -> lastKey);
      child.parent.say(Child.STARTED);
      producers.obey();
      relay.close();
    }
  }

  private <T> Uncommitted append(
      Relay relay, OutboxStore<T> store, T transaction, List<OutboxMessage> messages) {
    Uncommitted uncommitted = relay.append(store, transaction, messages);
    return Uncommitted.of(
        uncommitted.appended(),
        () -> {
          if (random.nextInt(4) == 0) { // workers may read what was committed before they are told
            Child.pause(random.nextInt(SLOW_TO_TELL_MILLIS));
          }
          Committed committed = uncommitted.committed();
          if (committed == Committed.HANDED_OVER) {
            child.journal.write("handed-over");
          }
          return committed;
        });
  }

  /**
   * The database may be away: as a supervisor that starts a process anew, until the relay is
   * closed.
   */
  private static void start(Relay relay) {
    while (true) {
      try {
        relay.start();
        return;
      } catch (OutboxException e) {
        System.err.println("not started yet: " + e.getMessage());
        Child.pause(IDLE_PAUSE.toMillis());
      } catch (IllegalStateException e) {
        return; // closed before the database came back
      }
    }
  }

  private void perhapsLate() {
    if (!child.calm && random.nextDouble() < LATE) {
      child.journal.write("trouble", "settles-late");
      Child.pause((long) (LEASE.toMillis() * (0.8 + random.nextDouble())));
    }
  }
}
