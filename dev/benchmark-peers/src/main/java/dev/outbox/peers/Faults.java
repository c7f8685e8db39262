package dev.outbox.peers;

import dev.outbox.cli.Address;
import dev.outbox.dev.bench.Report;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.peers.Deliveries.Outcome;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** What happens to order and to messages, in the same faults for all contenders. */
final class Faults {
  static final List<Contender> CONTENDERS =
      List.of(Ours.publisher(), Namastack.defaults(), Namastack.tuned(), Modulith.defaults());

  private static final String KEY = "order-1";
  private static final int MESSAGES = 10;
  private static final int CULPRIT = 5;

  /** Longer than each contender needs to see that an instance is gone, with its defaults. */
  private static final Duration LIMIT = Duration.ofSeconds(90);

  private static final Duration LOAD = Duration.ofSeconds(10);
  private static final Duration FROZEN = Duration.ofSeconds(60);

  private static final int FIRST_NUMBER = 2;

  private static final String LEGEND =
      """
      Out of order: messages whose first delivery came after that of a later one of their key. Twice: deliveries of what had been delivered.
      What was not delivered %s s after the last commit counts as not delivered.
      """;

  private final Address address;
  private final Consumer<String> progress;

  Faults(Address address, Consumer<String> progress) {
    this.address = address;
    this.progress = progress;
  }

  /** One fault, as it happens to one contender. */
  interface Fault {
    Outcome of(Contender contender) throws Exception;
  }

  /** By what happens. */
  Map<String, Fault> faults() {
    Map<String, Fault> faults = new LinkedHashMap<>();
    faults.put("two open transactions of a key", this::overlap);
    faults.put("a key written by two machines, clocks 1 s apart", this::clocks);
    faults.put("the sixth of ten fails three times", contender -> failing(contender, 3));
    faults.put(
        "the sixth of ten fails each time", contender -> failing(contender, Integer.MAX_VALUE));
    faults.put(
        "one of two instances is killed", contender -> instances(contender, ChildJvm::close));
    faults.put(
        "one of two instances stands still for %s s".formatted(FROZEN.toSeconds()),
        contender -> instances(contender, Faults::freeze));
    return faults;
  }

  /** Each fault once for each contender, as a table. */
  String run() throws Exception {
    List<Map<String, String>> rows = new ArrayList<>();
    for (Map.Entry<String, Fault> fault : faults().entrySet()) {
      for (Contender contender : CONTENDERS) {
        progress.accept(fault.getKey() + ", " + contender.name());
        Outcome outcome = fault.getValue().of(contender);
        Map<String, String> row = new LinkedHashMap<>();
        row.put("fault", fault.getKey());
        row.put("outbox", contender.name());
        row.put("delivered", text("%,d of %,d", outcome.delivered(), outcome.committed()));
        row.put("out of order", text("%,d", outcome.outOfOrder()));
        row.put("twice", text("%,d", outcome.twice()));
        row.put("the longest wait of those delivered, s", text("%.1f", outcome.longest()));
        rows.add(row);
      }
    }
    StringBuilder text = new StringBuilder(Report.table(rows, FIRST_NUMBER));
    text.append('\n').append(LEGEND.formatted(LIMIT.toSeconds())).append('\n');
    CONTENDERS.forEach(one -> text.append("- %s: %s%n".formatted(one.name(), one.what())));
    return text.toString();
  }

  private static String text(String format, Object... numbers) {
    return String.format(Locale.ROOT, format, numbers);
  }

  /** Something that happens while an application runs. */
  private interface Happening {
    void with(App app, Deliveries deliveries) throws Exception;
  }

  /**
   * An application that runs, in this process.
   *
   * @param before gets each message before it is delivered, and may refuse it
   */
  private Outcome running(Contender contender, Consumer<OrderPlaced> before, Happening happening)
      throws Exception {
    try (Schema schema = new Schema(address);
        Deliveries deliveries = new Deliveries(schema.pool(Contender.CONNECTIONS));
        Schema.Pool pool = schema.pool(contender.connections())) {
      Recorder recorder = Recorder.opened(before.andThen(deliveries::add));
      try (App app = contender.run(pool.dataSource(), recorder)) {
        app.begin();
        happening.with(app, deliveries);
        return await(deliveries);
      } finally {
        recorder.close();
      }
    }
  }

  /** Until all have been delivered, or the time is over. */
  private static Outcome await(Deliveries deliveries) throws Exception {
    long end = System.nanoTime() + LIMIT.toNanos();
    Outcome outcome = deliveries.outcome();
    while (!outcome.isWhole() && System.nanoTime() < end) {
      LockSupport.parkNanos(100_000_000);
      outcome = deliveries.outcome();
    }
    return outcome;
  }

  /** The first to append is the last to commit, after the other one was delivered. */
  private Outcome overlap(Contender contender) throws Exception {
    CountDownLatch delivered = new CountDownLatch(1);
    CountDownLatch appended = new CountDownLatch(1);
    return running(
        contender,
        message -> {},
        (app, deliveries) -> {
          CompletableFuture<Void> late =
              CompletableFuture.runAsync(
                  () ->
                      app.transaction(
                          () -> {
                            OrderPlaced message = OrderPlaced.of(KEY, 1);
                            app.append(message);
                            appended.countDown();
                            await(delivered);
                            app.business(message);
                          }));
          await(appended);
          app.place(OrderPlaced.of(KEY, 0));
          var ignored = await(deliveries);
          delivered.countDown();
          late.join();
        });
  }

  private static void await(CountDownLatch latch) {
    try {
      if (!latch.await(2 * LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("nothing happened for " + LIMIT.multipliedBy(2));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** One transaction after the other, as behind a lock; published later by a third instance. */
  private Outcome clocks(Contender contender) throws Exception {
    try (Schema schema = new Schema(address);
        Deliveries deliveries = new Deliveries(schema.pool(Contender.CONNECTIONS))) {
      Clock clock = Clock.systemUTC();
      try (Schema.Pool pool = schema.pool(2 * contender.connections());
          App first = contender.fill(pool.dataSource(), clock);
          App second =
              contender.fill(pool.dataSource(), Clock.offset(clock, Duration.ofSeconds(-1)))) {
        first.place(OrderPlaced.of(KEY, 0));
        second.place(OrderPlaced.of(KEY, 1));
      }
      Recorder recorder = Recorder.opened(deliveries::add);
      try (Schema.Pool pool = schema.pool(contender.connections());
          App app = contender.run(pool.dataSource(), recorder)) {
        app.begin();
        app.submitBacklog();
        return await(deliveries);
      } finally {
        recorder.close();
      }
    }
  }

  /** One of a key's messages is refused so often. */
  private Outcome failing(Contender contender, int times) throws Exception {
    AtomicInteger refused = new AtomicInteger();
    return running(
        contender,
        message -> {
          if (message.number() == CULPRIT && refused.getAndIncrement() < times) {
            throw new Recorder.Refused("on purpose");
          }
        },
        (app, deliveries) -> {
          for (int number = 0; number < MESSAGES; number++) {
            app.place(OrderPlaced.of(KEY, number));
          }
        });
  }

  /** What happens to the first of two instances. */
  private interface Accident {
    void to(ChildJvm instance) throws Exception;
  }

  /** Two instances that append, each to its own keys, and publish; one has an accident. */
  private Outcome instances(Contender contender, Accident accident) throws Exception {
    try (Schema schema = new Schema(address);
        Deliveries deliveries = new Deliveries(schema.pool(Contender.CONNECTIONS))) {
      try (ChildJvm one = instance(contender, schema, "a-"); // which makes the tables
          ChildJvm other = instance(contender, schema, "b-")) {
        for (ChildJvm child : List.of(one, other)) {
          child.send(FaultMain.APPEND);
        }
        Thread.sleep(LOAD.toMillis());
        accident.to(one);
        Thread.sleep(LOAD.toMillis());
        for (ChildJvm child : List.of(one, other)) {
          if (child.isAlive()) {
            rest(child);
          }
        }
        return await(deliveries);
      }
    }
  }

  private ChildJvm instance(Contender contender, Schema schema, String name) {
    ChildJvm child =
        ChildJvm.start(
            FaultMain.class,
            Map.of(
                "url", address.url(),
                "user", address.user(),
                "password", address.password(),
                "schema", schema.name(),
                "contender", contender.name(),
                "name", name));
    child.await(FaultMain.READY);
    return child;
  }

  private static void rest(ChildJvm child) {
    child.send(FaultMain.REST);
    child.await(FaultMain.REST);
  }

  /** Between its own transactions, which would stay open. */
  private static void freeze(ChildJvm instance) throws InterruptedException {
    rest(instance);
    instance.stop();
    Thread.sleep(FROZEN.toMillis());
    instance.go();
  }
}
