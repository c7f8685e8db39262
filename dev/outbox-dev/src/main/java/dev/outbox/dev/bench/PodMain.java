package dev.outbox.dev.bench;

import com.sun.management.OperatingSystemMXBean;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.common.Load;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.relay.Relay;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The program of a {@link Fleet.Pod}. What it commits and publishes it says at once, so that it is
 * known when the process is killed. It answers a command, when it is done, with what it did so far.
 */
public final class PodMain {
  static final String READY = "ready";
  static final String WORK = "work";
  static final String LOAD = "load";
  static final String HALT = "halt";

  static final String END = "end";
  static final String COMMITTED = "committed";
  static final String PUBLISHED = "published";

  /** Many servers allow 100 connections in all. */
  private static final int MOST_CONNECTIONS = 80;

  private final ParentJvm parent;
  private final LongAdder counter = new LongAdder();
  private final JdbcPlace place;
  private final MessagePublisher publisher;
  private final List<Relay> relays;
  private List<BenchClient> clients = List.of();
  private @Nullable Load load;

  private PodMain(ParentJvm parent) {
    this.parent = parent;
    // Of one pool, sessions that stay open may have a quarter. Housekeeping of a single relay, once
    // in a minute, shares with its workers: 20 pods have 100 connections at most.
    int relay = Relay.Builder.DEFAULT_WORKERS + (setting("relays") > 1 ? 2 : 1);
    int forRelays = setting("relays") * relay;
    int needed = Math.min(MOST_CONNECTIONS, forRelays) + setting("clients");
    place =
        JdbcPlace.ready(
            Place.address(parent),
            Math.max(BenchDatabase.connections(Relay.Builder.DEFAULT_WORKERS), needed),
            pool -> StatementWatch.watch(pool, counter));
    publisher =
        parent.settings().containsKey("broker")
            ? Broker.open(parent, List.of(BenchClient.ORDER)).publisher(null)
            : Draining.NO_OP;
    relays =
        Stream.generate(() -> Relay.builder(place.store(), this::publish).build())
            .limit(setting("relays"))
            .toList();
  }

  public static void main(String[] arguments) throws Exception {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    ParentJvm parent = ParentJvm.connect();
    PodMain pod = new PodMain(parent);
    pod.relays.forEach(Relay::start);
    parent.say(READY);
    for (String line = parent.command(); !line.equals(END); line = parent.command()) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case WORK -> {}
        case LOAD -> pod.load(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
        case HALT -> pod.halt();
        default -> throw new IllegalArgumentException(line);
      }
      parent.say(words[0] + " " + pod.work());
    }
    pod.halt();
    pod.relays.forEach(Relay::close);
    Runtime.getRuntime().halt(0);
  }

  private int setting(String name) {
    return Integer.parseInt(parent.get(name));
  }

  private String work() {
    long cpu = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    return counter.sum() + " " + cpu;
  }

  /**
   * Begins to append.
   *
   * @param all how many clients all pods have
   */
  private void load(int rate, int all) {
    if (clients.isEmpty()) {
      clients = Stream.generate(this::client).limit(setting("clients")).toList();
    }
    int first = setting("first-client");
    List<Load.Client> each =
        IntStream.range(0, clients.size())
            .mapToObj(i -> appending(clients.get(i), first + i))
            .toList();
    Load started = new Load("a client", each, first, all);
    started.allow(Long.MAX_VALUE, rate);
    load = started;
  }

  private BenchClient client() {
    return relays.isEmpty()
        ? new BenchClient(place)
        : BenchClient.beside(relays.get(0), BenchClient.Woken.valueOf(parent.get("woken")), place);
  }

  private Load.Client appending(BenchClient client, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int keys = setting("keys");
    return () -> {
      OutboxMessage message = BenchClient.message(random.nextInt(keys));
      client.transaction(BenchDatabase.Side.OURS, List.of(message));
      parent.say(
          "%s %s %s %s"
              .formatted(COMMITTED, message.id(), message.aggregateId(), System.nanoTime()));
    };
  }

  private void halt() throws InterruptedException {
    if (load != null) {
      load.close();
    }
  }

  /** A message is acknowledged when all of its call are. */
  private List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    long called = System.nanoTime();
    List<Result> results = publisher.publish(messages);
    long acknowledged = System.nanoTime();
    String delivered =
        IntStream.range(0, messages.size())
            .filter(i -> results.get(i) instanceof Result.Delivered)
            .mapToObj(i -> messages.get(i).message().id().toString())
            .collect(Collectors.joining(" "));
    parent.say("%s %s %s %s".formatted(PUBLISHED, called, acknowledged, delivered));
    return results;
  }
}
