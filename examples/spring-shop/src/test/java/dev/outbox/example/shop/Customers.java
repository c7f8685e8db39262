package dev.outbox.example.shop;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** They place an order at one instance and pay it at the next, and note what they were promised. */
final class Customers implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final List<Instance> instances;
  private final Set<String> paid = ConcurrentHashMap.newKeySet();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger turn = new AtomicInteger();
  private volatile boolean closed;
  private volatile RuntimeException failure;
  private Thread thread;

  private Customers(List<Instance> instances) {
    this.instances = new CopyOnWriteArrayList<>(instances);
  }

  static Customers of(Instance... instances) {
    return new Customers(List.of(instances));
  }

  /** The orders that the shop said are paid. */
  Set<String> paid() {
    return paid;
  }

  /** How often an instance was not there, or said no. */
  int refused() {
    return refused.get();
  }

  void replace(int index, Instance instance) {
    instances.set(index, instance);
  }

  void order(int count) {
    for (int i = 0; i < count; i++) {
      order();
    }
  }

  /** In a thread of its own; not as fast as it can, which would only keep the machine busy. */
  void orderUntilClosed() {
    thread =
        new Thread(
            () -> {
              while (!closed) {
                order();
                LockSupport.parkNanos(PAUSE.toNanos());
              }
            },
            "customers");
    thread.setUncaughtExceptionHandler((t, e) -> failure = new IllegalStateException(e));
    thread.start();
  }

  /** Waits until so many more orders are paid. */
  void awaitOrders(int count) {
    int enough = paid.size() + count;
    await()
        .atMost(Duration.ofMinutes(5))
        .until(
            () -> {
              if (failure != null) {
                throw failure;
              }
              return paid.size() >= enough;
            });
  }

  private void order() {
    int number = turn.getAndIncrement();
    String order =
        "{\"customer\": \"c%d@example.org\", \"article\": \"%s\", \"quantity\": %d}"
            .formatted(number, number % 3 == 0 ? "tea" : "coffee", 1 + number % 5);
    ask(number, instance -> instance.post("/orders", order))
        .flatMap(placed -> placed.headers().firstValue("Location"))
        .ifPresent(
            path ->
                ask(number + 1, instance -> instance.put(path + "/payment"))
                    .ifPresent(done -> paid.add(path.substring("/orders/".length()))));
  }

  private interface Question {
    HttpResponse<String> to(Instance instance) throws IOException;
  }

  /** Asks the next instance when one is not there, as a load balancer does. */
  private Optional<HttpResponse<String>> ask(int first, Question question) {
    for (int i = 0; i < instances.size(); i++) {
      try {
        HttpResponse<String> answer = question.to(instances.get((first + i) % instances.size()));
        if (answer.statusCode() / 100 == 2) {
          return Optional.of(answer);
        }
      } catch (IOException e) {
        // It stops or has stopped; whether it did what it was asked is not known.
      }
      refused.incrementAndGet();
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    closed = true;
    if (thread != null) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }
}
