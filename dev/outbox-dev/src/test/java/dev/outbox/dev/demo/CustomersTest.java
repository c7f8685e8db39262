package dev.outbox.dev.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.dev.StoreKind;
import dev.outbox.dev.broker.BrokerKind;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CustomersTest {
  private final Ledger ledger = new Ledger();

  @Test
  @DisplayName("they make the part that is allowed, and then wait for more")
  void allowed() throws InterruptedException {
    DemoSettings settings =
        new DemoSettings(
            20, 5, 2, 1_000_000, 42, StoreKind.POSTGRES, null, BrokerKind.KAFKA, null, false);
    Service service = new Service();
    try (Customers customers = new Customers(service, ledger, settings)) {
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
  private static final class Service implements OrderService {
    private final AtomicLong version = new AtomicLong();
    private final Semaphore gate = new Semaphore(1);

    @Override
    public void create(int orders) {}

    @Override
    public void add(
        String order, int amount, boolean card, LongFunction<List<OutboxMessage>> messages)
        throws CardDeclined {
      gate.acquireUninterruptibly();
      gate.release();
      List<OutboxMessage> ignored = messages.apply(version.incrementAndGet());
      if (!card) {
        throw new CardDeclined(order);
      }
    }
  }
}
