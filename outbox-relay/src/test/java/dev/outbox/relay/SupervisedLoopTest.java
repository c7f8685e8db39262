package dev.outbox.relay;

import static dev.outbox.relay.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is thrown by whomever: the relay's threads go on, and a word is said. */
class SupervisedLoopTest {
  private final Store store = new Store();
  private final FakePublisher publisher = new FakePublisher();
  private final Recorder events = new Recorder();
  private Relay relay = builder().build();

  private static final class Store extends FaultyStore {
    final AtomicInteger housekeepings = new AtomicInteger();
    Runnable inHousekeeping = NOTHING;

    @Override
    public void housekeep() {
      housekeepings.incrementAndGet();
      inHousekeeping.run();
    }
  }

  /** Throws at each failure of the store, as long as there is something left to throw. */
  private static final class Failing implements RelayListener {
    private final AtomicInteger left = new AtomicInteger(3);
    private final String kind;

    Failing(String kind) {
      this.kind = kind;
    }

    @Override
    public void on(RelayEvent event) {
      if (event instanceof RelayEvent.Delivered
          || event instanceof RelayEvent.Retried
          || event instanceof RelayEvent.StoreFailed) {
        sometimes();
      }
    }

    private void sometimes() {
      if (left.getAndDecrement() > 0) {
        raise(kind);
      }
    }
  }

  private Relay.Builder builder() {
    // so short that what an interrupt abandons comes again soon
    return Relay.builder(store, publisher).name("survivor").workers(1).lease(Duration.ofSeconds(2));
  }

  /** A thread that has left its pool still ends for a moment: the next test would count it. */
  @AfterEach
  void close() {
    relay.close();
    await().untilAsserted(() -> assertThat(threads()).isEmpty());
  }

  private static void raise(String kind) {
    switch (kind) {
      case "memory" -> throw new OutOfMemoryError("for a test");
      case "stack" -> throw new StackOverflowError();
      case "checked" -> SupervisedLoopTest.<RuntimeException>sneak(new Exception("not declared"));
      case "interrupt" -> Thread.currentThread().interrupt();
      default -> throw new IllegalStateException(kind);
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> void sneak(Exception e) throws E {
    throw (E) e;
  }

  private static Runnable raising(int times, String kind) {
    AtomicInteger left = new AtomicInteger(times);
    return () -> {
      if (left.getAndDecrement() > 0) {
        raise(kind);
      }
    };
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("survivor"))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "stack", "checked", "interrupt"})
  void aWorkerGoesOnWhateverStoreAndListenerThrow(String kind) {
    relay = builder().listener(new Failing(kind)).listener(events).build();
    store.beforeClaim = raising(2, kind);
    store.beforeSettle = raising(1, kind);
    relay.start();
    store.append("a", "1", "2");
    await().untilAsserted(() -> assertThat(events.of("delivered")).hasSize(2));
    assertThat(events.of("storeFailed")).as("a word is said").isNotEmpty();
    store.append("a", "3");
    await().untilAsserted(() -> assertThat(events.of("delivered")).hasSize(3));
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "stack", "checked", "exception"})
  void housekeepingGoesOnWhateverStoreAndListenerThrow(String kind) {
    relay =
        builder()
            .housekeeping(Duration.ofMillis(1))
            .listener(new Failing(kind))
            .listener(events)
            .build();
    store.inHousekeeping = raising(3, kind);
    relay.start();
    await().until(() -> store.housekeepings.get() > 5);
    assertThat(events.of("storeFailed housekeep")).hasSize(3);
  }

  @Test
  void anExceptionWhoseTextThrowsIsReported() {
    relay = builder().listener(events).build();
    publisher.whole =
        () -> {
          throw new IllegalStateException() {
            @Override
            public String getMessage() {
              throw new IllegalStateException("no text");
            }
          };
        };
    store.append("a", "1");
    relay.start();
    await().until(() -> !events.of("broken publish threw").isEmpty());
  }

  @Test
  void aStartThatCannotHaveItsThreadsLeavesNothingRunning() {
    AtomicInteger left = new AtomicInteger(2);
    InheritableThreadLocal<String> scarce =
        new InheritableThreadLocal<>() {
          @Override
          protected String childValue(String parent) {
            if (left.getAndDecrement() == 0) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            return parent;
          }
        };
    relay = builder().workers(4).listener(events).build();
    scarce.set("of this thread");
    try {
      assertThatThrownBy(relay::start).isInstanceOf(OutOfMemoryError.class);
    } finally {
      scarce.remove();
    }
    await().untilAsserted(() -> assertThat(threads()).isEmpty());
    assertThat(events.all()).startsWith("started survivor 4").endsWith("stopped 0");
    assertThatThrownBy(relay::start).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatCouldNotBeToldIsToldBeforeTheNextTime() {
    List<String> told = new ArrayList<>();
    AtomicInteger tasks = new AtomicInteger();
    AtomicInteger tellings = new AtomicInteger();
    SupervisedLoop survival =
        new SupervisedLoop(
            () -> {
              if (tasks.incrementAndGet() == 1) {
                throw new OutOfMemoryError("first");
              }
            },
            e -> {
              if (tellings.incrementAndGet() < 3) {
                throw new OutOfMemoryError("no memory to tell either");
              }
              told.add(String.valueOf(e.getMessage()));
            });
    assertThat(survival.again()).isFalse();
    assertThat(survival.again()).isTrue();
    assertThat(told).isEmpty();
    assertThat(survival.again()).isTrue();
    assertThat(told).containsExactly("java.lang.OutOfMemoryError: first");
    assertThat(survival.again()).isTrue();
    assertThat(told).hasSize(1);
  }
}
