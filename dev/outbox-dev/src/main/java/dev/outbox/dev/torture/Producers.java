package dev.outbox.dev.torture;

import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.common.Load;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.dev.database.Tortured;
import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Appended;
import dev.outbox.dev.database.Work.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Clients that run business transactions. Each locks its keys before it appends, as O5 asks for,
 * and writes beside the outbox what it appends: that is what the oracle believes. Some stand still
 * inside an insert, with a sequence drawn, and some before they commit. What some append they take
 * back.
 *
 * <p>It writes down what it was told: "committed true|false ID,…", with whether the commit was
 * durable when it returned.
 */
final class Producers<T> {
  /** In a process that only produces. */
  private static final int ALONE = 2;

  private static final int FEW_KEYS = 5;
  private static final int LONGEST_STALL_MILLIS = 300;
  private static final int LONGEST_DELAY_MILLIS = 1_500;
  private static final int LONGEST_PAUSE_MILLIS = 60;
  private static final int REMEMBERED = 200;

  /**
   * So long all producers append much, and then one message of a few keys now and then: relays keep
   * up, and can hand over.
   */
  private static final Duration TIDE = Duration.ofSeconds(8);

  private static final int LONGEST_QUIET_MILLIS = 200;
  private static final int QUIET_KEYS = 16;

  private final Child child;
  private final int keys;
  private final Tortured<T> place;
  private final Supplier<Business<T>> transactions;
  private final Supplier<@Nullable String> quietKey;

  /** So many milliseconds one transaction stays open after it has appended. */
  private final AtomicLong standStill = new AtomicLong();

  private final Load load;

  /**
   * Starts them.
   *
   * @param quietKey the key for a transaction in quiet times; null: one of a few
   */
  Producers(
      Child child,
      int count,
      Tortured<T> place,
      Supplier<Business<T>> transactions,
      Supplier<@Nullable String> quietKey) {
    this.child = child;
    keys = Integer.parseInt(child.parent.get("keys"));
    this.place = place;
    this.transactions = transactions;
    this.quietKey = quietKey;
    load =
        new Load(
            "a producer",
            IntStream.range(0, count)
                .mapToObj(i -> new Producer(child.name() + "/" + i, child.seed() + i))
                .toList());
    allow(Long.MAX_VALUE);
  }

  /** A process that only produces, until it is told to end or killed. */
  public static void main(String[] args) throws Exception {
    try (Child child = new Child();
        Tortured<?> place = child.place(ALONE)) {
      run(child, place);
    }
  }

  private static <T> void run(Child child, Tortured<T> place) throws InterruptedException {
    Producers<T> producers = new Producers<>(child, ALONE, place, place::begin, () -> null);
    child.parent.say(Child.STARTED);
    producers.obey();
  }

  /** As fast as they can. */
  private void allow(long most) {
    load.allow(most, Integer.MAX_VALUE);
  }

  /** Does what the parent says, until the end. */
  void obey() throws InterruptedException {
    for (String command = child.parent.command();
        !command.equals(Child.END);
        command = child.parent.command()) {
      String[] words = command.split(" ");
      switch (words[0]) {
        case Child.PAUSE -> {
          child.calm = true;
          allow(0);
          load.await();
          child.parent.say(Child.PAUSED);
        }
        case Child.GO_ON -> {
          child.calm = false;
          allow(Long.MAX_VALUE);
        }
        case Child.EXHAUST -> place.exhaust(Long.parseLong(words[1]));
        case Child.LONG -> standStill.set(Long.parseLong(words[1]));
        default -> throw new IllegalArgumentException(command);
      }
    }
    load.close();
  }

  /** The same for all processes of the machine. */
  private static boolean isQuiet() {
    return System.nanoTime() / TIDE.toNanos() % 2 == 0;
  }

  private final class Producer implements Load.Client {
    private final String name;
    private final Random random;
    private final List<String> dedupKeys = new ArrayList<>();

    private Producer(String name, long seed) {
      this.name = name;
      random = new Random(seed);
    }

    @Override
    public void transaction() throws InterruptedException {
      try (Business<T> business = transactions.get()) {
        transaction(business);
      } catch (OutboxException e) {
        System.err.println(name + ": " + e);
      }
      Thread.sleep(random.nextInt(isQuiet() ? LONGEST_QUIET_MILLIS : LONGEST_PAUSE_MILLIS));
    }

    private void transaction(Business<T> business) throws InterruptedException {
      boolean durable = random.nextBoolean() || !place.commitLater(business.transaction());
      Map<String, Integer> last = lockKeys(business);
      if (random.nextInt(8) == 0) {
        List<OutboxMessage> vain =
            last.keySet().stream()
                .map(key -> new Work(UUID.randomUUID(), key, 0, Kind.PLAIN).message().build())
                .toList();
        place.inVain(
            business.transaction(),
            () -> {
              Set<UUID> ignored = business.append(vain);
            });
      }
      List<Appended> appended = new ArrayList<>();
      for (int i = isQuiet() ? 0 : random.nextInt(3); i >= 0; i--) {
        appended.addAll(append(business, last));
      }
      appended.forEach(one -> place.appended(business.transaction(), one)); // for the oracle
      last.forEach(business::last);
      standStill();
      if (random.nextInt(12) != 0) {
        business.commit();
        committed(durable, appended);
      }
    }

    private Map<String, Integer> lockKeys(Business<T> business) {
      Map<String, Integer> last = new TreeMap<>(); // locked in one order by all
      for (int i = isQuiet() ? 0 : random.nextInt(2); i >= 0; i--) {
        String quiet = isQuiet() && random.nextBoolean() ? quietKey.get() : null;
        int among = isQuiet() ? QUIET_KEYS : random.nextBoolean() ? keys : FEW_KEYS;
        last.put(quiet != null ? quiet : Place.key(random.nextInt(among)), 0);
      }
      last.entrySet().forEach(key -> key.setValue(business.lock(key.getKey())));
      return last;
    }

    /** A message for each key. */
    private List<Appended> append(Business<T> business, Map<String, Integer> last) {
      boolean bySql = random.nextInt(10) == 0;
      List<Work> works = new ArrayList<>();
      for (Map.Entry<String, Integer> key : last.entrySet()) {
        key.setValue(key.getValue() + 1);
        Kind kind = bySql ? Kind.PLAIN : kind(key.getKey());
        works.add(new Work(UUID.randomUUID(), key.getKey(), key.getValue(), kind));
      }
      if (bySql) {
        works.forEach(work -> appendPlain(business, work));
        return works.stream().map(work -> new Appended(work, null, false)).toList();
      }
      List<OutboxMessage> messages = works.stream().map(this::message).toList();
      Set<UUID> refused = business.append(messages);
      List<Appended> appended = new ArrayList<>();
      for (int i = 0; i < works.size(); i++) {
        Work work = works.get(i);
        appended.add(new Appended(work, messages.get(i).dedupKey(), refused.contains(work.id())));
      }
      return appended;
    }

    private void appendPlain(Business<T> business, Work work) {
      int stall = random.nextInt(3) == 0 ? random.nextInt(LONGEST_STALL_MILLIS) : 0;
      place.appendPlain(business.transaction(), work.message().build(), stall);
    }

    private Kind kind(String key) {
      int dice = random.nextInt(1_000);
      if (dice < 950) {
        return dice < 40 ? Kind.DELAYED : dice < 50 ? Kind.EXPIRED : Kind.PLAIN;
      }
      List<Kind> rare = Work.rareKinds(key);
      return dice < 970 ? rare.get(dice % rare.size()) : Kind.PLAIN;
    }

    private OutboxMessage message(Work work) {
      OutboxMessage.Builder message = work.message();
      if (work.kind() == Kind.DELAYED) {
        message.deliverAfter(Duration.ofMillis(random.nextInt(LONGEST_DELAY_MILLIS)));
      }
      int dice = random.nextInt(20);
      if (dice == 0 && !dedupKeys.isEmpty()) {
        message.dedupKey(dedupKeys.get(random.nextInt(dedupKeys.size())));
      } else if (dice < 3) {
        message.dedupKey(name + "/" + work.id());
      }
      return message.build();
    }

    /** Sequences are drawn, and others commit first. */
    private void standStill() throws InterruptedException {
      long told = standStill.getAndSet(0);
      Thread.sleep(told > 0 ? told : random.nextInt(random.nextInt(20) == 0 ? 200 : 4));
    }

    private void committed(boolean durable, List<Appended> appended) {
      child.journal.write(
          "committed",
          durable,
          Journal.list(appended.stream().filter(a -> !a.refused()).map(a -> a.work().id())));
      for (Appended one : appended) {
        if (one.dedup() != null && !one.refused()) {
          dedupKeys.add(one.dedup());
        }
      }
      while (dedupKeys.size() > REMEMBERED) {
        dedupKeys.remove(0);
      }
    }
  }
}
