package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Appended;
import dev.outbox.dev.broker.BrokerKind;
import dev.outbox.dev.database.Business;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Session;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CustomersTest {
  private final Ledger ledger = new Ledger();

  @Test
  @DisplayName("they make the part that is allowed, and then wait for more")
  void allowed() throws InterruptedException {
    Demo.Settings settings =
        new Demo.Settings(
            20, 5, 2, 1_000_000, 42, StoreKind.POSTGRES, null, BrokerKind.KAFKA, null);
    Service service = new Service();
    try (Customers customers = new Customers(service::begin, ledger, settings)) {
      customers.start();
      customers.allow(0.5);
      await().until(customers::done);
      assertThat(ledger.commits()).isEqualTo(10);

      service.gate.acquire(); // or they may be done before they are asked
      customers.allow(0.6);
      assertThat(customers.done()).as("as soon as more is allowed").isFalse();
      service.gate.release();
      await().until(customers::done);
      assertThat(ledger.commits()).isEqualTo(12);

      long begin = System.nanoTime();
      customers.allowQuietly();
      await().until(customers::done);
      assertThat(ledger.commits()).isEqualTo(20);
      assertThat(System.nanoTime() - begin)
          .as("8 transactions at 200 a second, the first of them at once")
          .isGreaterThan(30_000_000);
    }
  }

  /** Has no database. */
  private static final class Service {
    private final AtomicInteger version = new AtomicInteger();
    private final Semaphore gate = new Semaphore(1);

    private final Place<?> place =
        (Place<?>)
            Proxy.newProxyInstance(
                Place.class.getClassLoader(),
                new Class<?>[] {Place.class},
                (self, method, arguments) ->
                    switch (method.getName()) {
                      case "session" -> new Ours();
                      case "lock" -> lock();
                      default -> null;
                    });

    private Business<?> begin() {
      return begin(place);
    }

    private static <T> Business<T> begin(Place<T> place) {
      return new Business<>(
          place, (transaction, all) -> Uncommitted.of(Appended.of(all, Set.of()), () -> false));
    }

    private record Ours() implements Session<Object> {
      @Override
      public Object begin() {
        return this;
      }

      @Override
      public void commit() {}

      @Override
      public void close() {}
    }

    private int lock() {
      gate.acquireUninterruptibly();
      gate.release();
      return version.getAndIncrement();
    }
  }
}
