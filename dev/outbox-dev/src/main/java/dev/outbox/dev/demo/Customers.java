package dev.outbox.dev.demo;

import dev.outbox.OutboxMessage;
import dev.outbox.cli.Failure;
import dev.outbox.dev.demo.OrderService.CardDeclined;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Uses the order service on some threads, at random, and tells the ledger what it did: first as
 * often as was asked for, in the end quietly.
 */
final class Customers implements AutoCloseable {
  static final String ORDER = "order";
  static final String SHIPMENT = "shipment";

  /** Of the aggregates that their messages are about. */
  static final List<String> TYPES = List.of(ORDER, SHIPMENT);

  /** In percent. */
  private static final int DECLINED = 5;

  private static final int DELAYED = 2;
  private static final int REPEATED = 3;

  private final OrderService service;
  private final Ledger ledger;
  private final DemoSettings settings;
  private final List<Customer> customers = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile double allowed;
  private volatile int rate;
  private volatile boolean stopped;

  Customers(OrderService service, Ledger ledger, DemoSettings settings) {
    this.service = service;
    this.ledger = ledger;
    this.settings = settings;
    rate = settings.rate();
  }

  void start() {
    for (int i = 0; i < settings.threads(); i++) {
      Customer customer = new Customer(i);
      customers.add(customer);
      Thread thread = new Thread(customer::run, "orders-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  /** Lets them make this part of the transactions, 0 to 1; none in the beginning. */
  void allow(double part) {
    allowed = part;
  }

  /**
   * Lets them make all that is left, at the quiet rate; when they are done with what was before.
   */
  void allowQuietly() {
    rate = settings.quietRate();
    allowed = 1;
  }

  /**
   * True when all transactions were made that are allowed for now.
   *
   * @throws Failure when one failed
   */
  boolean done() {
    Throwable e = failure.get();
    if (e != null) {
      throw new Failure("the order service failed: " + e.getMessage(), e);
    }
    return customers.stream().allMatch(customer -> customer.waitsAt >= allowed);
  }

  @Override
  public void close() {
    stopped = true;
    try {
      for (Thread thread : threads) {
        thread.join(Duration.ofSeconds(5).toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One thread, with random numbers of its own: what it does does not depend on the others. */
  private final class Customer {
    private final int number;
    private final SplittableRandom random;
    private final List<String> dedupKeys = new ArrayList<>();

    /** The part that it is not allowed to begin, or 1 in the end; negative while it works. */
    private volatile double waitsAt = -1;

    private long paceBegin;
    private int paced;

    Customer(int number) {
      this.number = number;
      random = new SplittableRandom(settings.seed() * 1_000_003 + number);
    }

    void run() {
      paceBegin = System.nanoTime();
      int mine = settings.transactions() / settings.threads();
      mine += number < settings.transactions() % settings.threads() ? 1 : 0;
      try {
        for (int i = 0; i < mine && !stopped; i++) {
          awaitAllowance((double) i / mine);
          pace();
          while (!commit()) {
            // declined: the customer tries another card
          }
        }
        waitsAt = 1;
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }

    /** What was not done while it had to wait is not made up for: that would be a burst. */
    private void awaitAllowance(double part) {
      if (part >= allowed) {
        waitsAt = part;
        while (!stopped && part >= allowed) {
          LockSupport.parkNanos(10_000_000);
        }
        waitsAt = -1;
        paceBegin = System.nanoTime();
        paced = 0;
      }
    }

    private void pace() {
      long turn = (long) paced++ * settings.threads() + number;
      long due = paceBegin + turn * 1_000_000_000L / rate;
      while (!stopped && due - System.nanoTime() > 0) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }

    /** Returns false when it was rolled back. */
    private boolean commit() throws Exception {
      // Squared: some orders are much busier than others.
      double where = random.nextDouble();
      int order = (int) (settings.orders() * where * where);
      boolean card = random.nextInt(100) >= DECLINED;
      Purchase purchase = new Purchase(order);
      try {
        service.add("order-" + order, random.nextInt(1, 100), card, purchase::messages);
        ledger.committed(purchase.ids, System.nanoTime());
        dedupKeys.addAll(purchase.newDedupKeys);
        return true;
      } catch (CardDeclined e) {
        ledger.rolledBack(purchase.ids);
        return false;
      }
    }

    /** The messages of one transaction. */
    private final class Purchase {
      private final int order;
      private final List<UUID> ids = new ArrayList<>();
      private final List<String> newDedupKeys = new ArrayList<>();

      Purchase(int order) {
        this.order = order;
      }

      /** Begins anew where it was asked before: that transaction was rolled back. */
      List<OutboxMessage> messages(long version) {
        if (!ids.isEmpty()) {
          ledger.rolledBack(ids);
          ids.clear();
          newDedupKeys.clear();
        }
        int count = 1 + (random.nextInt(4) == 0 ? random.nextInt(1, 4) : 0);
        List<OutboxMessage> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          messages.add(message(version, i));
        }
        return messages;
      }

      private OutboxMessage message(long version, int index) {
        String type = index == 0 || random.nextBoolean() ? ORDER : SHIPMENT;
        UUID id = new UUID(random.nextLong(), random.nextLong());
        OutboxMessage.Builder message =
            OutboxMessage.builder()
                .id(id)
                .aggregate(type, type + "-" + order)
                .eventType(index == 0 ? "ItemAdded" : "ItemReserved")
                .payload(
                    "{\"order\":%d,\"version\":%d,\"item\":\"%x\"}"
                        .formatted(order, version, random.nextLong()))
                .header("tenant", "demo")
                .correlationId("purchase-" + order + "-" + version);
        int dice = random.nextInt(100);
        boolean delayed = dice < DELAYED;
        boolean repeated = dice >= 100 - REPEATED && !dedupKeys.isEmpty();
        if (delayed) {
          message.deliverAfter(Duration.ofMillis(random.nextInt(100, 3_000)));
        } else if (repeated) {
          message.dedupKey(dedupKeys.get(random.nextInt(dedupKeys.size())));
        } else if (dice % 10 == 0) {
          String dedupKey = "purchase-%d-%s".formatted(number, id);
          message.dedupKey(dedupKey);
          newDedupKeys.add(dedupKey);
        }
        OutboxMessage built = message.build();
        ledger.appended(id, built.recordKey(), version, index, delayed, repeated);
        ids.add(id);
        return built;
      }
    }
  }
}
