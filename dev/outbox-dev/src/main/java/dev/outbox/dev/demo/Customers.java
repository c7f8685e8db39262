package dev.outbox.dev.demo;

import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Failure;
import dev.outbox.dev.database.Business;
import dev.outbox.dev.database.Place;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Order on some threads, at random, and tell the ledger what they did: first as often as was asked
 * for, in the end quietly. Each locks its order before it appends, so that the messages of one
 * order are appended one transaction after the other; that is what makes their order mean something
 * (O5).
 */
final class Customers implements AutoCloseable {
  /** In percent. */
  private static final int DECLINED = 5;

  /** One after the other: databases that do not wait for locks let one of two begin anew. */
  private static final int MOST_CONFLICTS = 100;

  private static final long CONFLICT_NANOS = 5_000_000;

  private static final int DELAYED = 2;
  private static final int REPEATED = 3;

  private final Supplier<? extends Business<?>> transactions;
  private final Ledger ledger;
  private final Demo.Settings settings;
  private final List<Customer> customers = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile double allowed;
  private volatile int rate;
  private volatile boolean stopped;

  Customers(Supplier<? extends Business<?>> transactions, Ledger ledger, Demo.Settings settings) {
    this.transactions = transactions;
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

    private int conflicts;
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
            // the card was declined, or the order is somebody else's at the moment: once more
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
    private boolean commit() {
      // Squared: some orders are much busier than others.
      double where = random.nextDouble();
      int order = (int) (settings.orders() * where * where);
      boolean paid = random.nextInt(100) >= DECLINED;
      List<OutboxMessage> messages = List.of();
      try (Business<?> business = transactions.get()) {
        int version = business.lock(Place.key(order)) + 1;
        messages = messages(order, version);
        Set<UUID> unused = business.append(messages);
        business.last(Place.key(order), version);
        if (paid) {
          business.commit();
        }
        conflicts = 0;
      } catch (TransientOutboxException e) {
        paid = false;
        if (++conflicts > MOST_CONFLICTS) {
          throw e;
        }
        LockSupport.parkNanos(CONFLICT_NANOS);
      }
      List<UUID> ids = messages.stream().map(OutboxMessage::id).toList();
      if (!paid) {
        ledger.rolledBack(ids);
        return false;
      }
      ledger.committed(ids, System.nanoTime());
      for (OutboxMessage message : messages) {
        if (message.dedupKey() != null && !dedupKeys.contains(message.dedupKey())) {
          dedupKeys.add(message.dedupKey());
        }
      }
      return true;
    }

    private List<OutboxMessage> messages(int order, int version) {
      int count = 1 + (random.nextInt(4) == 0 ? random.nextInt(1, 4) : 0);
      return IntStream.range(0, count).mapToObj(i -> message(order, version, i)).toList();
    }

    private OutboxMessage message(int order, int version, int index) {
      boolean ofOrder = index == 0 || random.nextBoolean();
      String type = ofOrder ? Demo.ORDER : Demo.SHIPMENT;
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
        message.dedupKey("purchase-%d-%s".formatted(number, id));
      }
      OutboxMessage built = message.build();
      ledger.appended(id, built.recordKey(), version, index, delayed, repeated);
      return built;
    }
  }
}
