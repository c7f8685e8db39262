package dev.outbox.dev.torture;

import dev.outbox.dev.database.Exhaustion;
import dev.outbox.dev.torture.Fleet.Member;
import dev.outbox.dev.torture.Fleet.Role;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.embedded.TcpProxy;
import dev.outbox.embedded.TcpProxy.Link;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Makes faults happen, and ends them when they are over. Used by one thread. */
final class Havoc {
  /** How far a clock jumps: up to two hours, in either direction. */
  private static final long FARTHEST_SECONDS = Duration.ofHours(2).toSeconds();

  private static final int MOST_BYTES_PER_SECOND = 40_000;

  private final Servers servers;
  private final Fleet fleet;
  private final Clocks clocks;
  private final Journal journal;
  private final List<Healing> healings = new ArrayList<>();
  private final Map<String, Long> happened = new TreeMap<>();
  private CompletableFuture<@Nullable Void> database = CompletableFuture.completedFuture(null);
  private CompletableFuture<@Nullable Void> broker = CompletableFuture.completedFuture(null);
  private boolean brokerStopped;

  /** The end of a fault. */
  private record Healing(long at, Runnable work) {}

  Havoc(Servers servers, Fleet fleet, Clocks clocks, Journal journal) {
    this.servers = servers;
    this.fleet = fleet;
    this.clocks = clocks;
    this.journal = journal;
  }

  /** How many faults of each kind there were; those that found nothing to disturb do not count. */
  Map<String, Long> happened() {
    return happened;
  }

  long count() {
    return happened.values().stream().mapToLong(Long::longValue).sum();
  }

  void apply(Fault fault) {
    Optional<String> target = tryApply(fault);
    if (target.isPresent()) {
      happened.merge(fault.kind().name(), 1L, Long::sum);
      journal.write("fault", fault.number(), fault, "target=" + target.get());
    } else {
      journal.write("no-target-for-fault", fault.number(), fault);
    }
  }

  /** Ends what is over. */
  void heal() {
    long now = System.nanoTime();
    for (Healing healing : List.copyOf(healings)) {
      if (healing.at() - now <= 0) {
        healings.remove(healing);
        healing.work().run();
      }
    }
    failIfBroken();
  }

  /** A server that does not come back is not what is tested here. */
  private void failIfBroken() {
    for (CompletableFuture<@Nullable Void> restart : List.of(database, broker)) {
      if (restart.isCompletedExceptionally()) {
        restart.join();
      }
    }
  }

  /** Ends all there is, and waits until both servers run. */
  void healAll() {
    List<Healing> all = List.copyOf(healings);
    healings.clear();
    all.forEach(healing -> healing.work().run());
    database.join();
    broker.join();
    journal.write("healed");
  }

  /** What met it, or nothing when there is nothing to disturb. */
  private Optional<String> tryApply(Fault fault) {
    double which = fault.which();
    return switch (fault.kind()) {
      case KILL_RELAY -> replace(fleet.pick(which, Role.RELAY));
      case KILL_PRODUCER -> replace(fleet.pick(which, Role.PRODUCER));
      case KILL_CONSUMER -> replace(fleet.pick(which, Role.CONSUMER));
      case STOP_RELAY -> stop(fleet.pick(which, Role.RELAY), fault);
      case STOP_CONSUMER -> stop(fleet.pick(which, Role.CONSUMER), fault);
      case STOP_PRODUCER -> stop(fleet.pick(which, Role.PRODUCER), fault);
      case KILL_DATABASE -> killDatabase(fault);
      case KILL_BROKER -> killBroker(fault);
      case RESTART_BROKER -> restartBroker();
      case STOP_BROKER -> stopBroker(fault);
      case CUT_DATABASE -> some(servers.toDatabase(), which, Link::cut);
      case CUT_BROKER -> some(servers.toBroker(), which, Link::cut);
      case STALL_DATABASE -> disturb(servers.toDatabase(), fault, Link::stall);
      case STALL_BROKER -> disturb(servers.toBroker(), fault, Link::stall);
      case SLOW_DATABASE -> disturb(servers.toDatabase(), fault, link -> link.slow(rate(fault)));
      case SLOW_BROKER -> disturb(servers.toBroker(), fault, link -> link.slow(rate(fault)));
      case HALF_CLOSE_DATABASE -> halfClose(servers.toDatabase(), fault);
      case HALF_CLOSE_BROKER -> halfClose(servers.toBroker(), fault);
      case SHIFT_CLOCK ->
          clocks.canShift()
              ? shift(fleet.pick(which, Role.RELAY, Role.PRODUCER), fault)
              : Optional.empty();
      case EXHAUST_POOL -> tell(fleet.pick(which, Role.RELAY, Role.PRODUCER), Child.EXHAUST, fault);
      case EXHAUST_DATABASE -> exhaustDatabase(fault);
      case LONG_TRANSACTION ->
          tell(fleet.pick(which, Role.RELAY, Role.PRODUCER), Child.LONG, fault);
      case SNAPSHOT -> snapshot(fault);
    };
  }

  private void after(Duration time, Runnable work) {
    healings.add(new Healing(System.nanoTime() + time.toNanos(), work));
  }

  private static Optional<String> replace(Optional<Member> member) {
    Optional<String> name = member.map(Member::name);
    member.ifPresent(Member::replace);
    return name;
  }

  private Optional<String> stop(Optional<Member> member, Fault fault) {
    member.ifPresent(
        m -> {
          ChildJvm stopped = m.jvm;
          stopped.stop();
          after(fault.length(), stopped::go);
        });
    return member.map(Member::name);
  }

  private static Optional<String> tell(Optional<Member> member, String command, Fault fault) {
    member.ifPresent(m -> m.jvm.send(command + " " + fault.length().toMillis()));
    return member.map(Member::name);
  }

  /** Not of consumers: Kafka's polls do not return when the clock has jumped back. */
  private Optional<String> shift(Optional<Member> member, Fault fault) {
    long seconds = (long) ((fault.which() * 1_000 % 1 * 2 - 1) * FARTHEST_SECONDS);
    member.ifPresent(
        m -> {
          m.shiftClock(Duration.ofSeconds(seconds));
          after(fault.length(), () -> m.shiftClock(Duration.ZERO));
        });
    return member.map(m -> m.name() + " by " + seconds + "s");
  }

  private Optional<String> killDatabase(Fault fault) {
    if (!database.isDone()) {
      return Optional.empty();
    }
    servers.database().kill();
    database = new CompletableFuture<>();
    after(fault.length(), () -> restart(servers.database(), database));
    return Optional.of("database");
  }

  private Optional<String> killBroker(Fault fault) {
    if (!broker.isDone()) {
      return Optional.empty();
    }
    servers.broker().kill();
    brokerStopped = false;
    broker = new CompletableFuture<>();
    after(fault.length(), () -> restart(servers.broker(), broker));
    return Optional.of("broker");
  }

  /** A stopped one would not hear that it is to shut down. */
  private Optional<String> restartBroker() {
    if (!broker.isDone()) {
      return Optional.empty();
    }
    goOnBroker();
    broker = new CompletableFuture<>();
    restart(servers.broker(), broker);
    return Optional.of("broker");
  }

  /** On a thread of its own, because it takes seconds. */
  private static void restart(EmbeddedServer server, CompletableFuture<@Nullable Void> done) {
    var unused =
        done.completeAsync(
            () -> {
              server.restart();
              return null;
            });
  }

  private Optional<String> stopBroker(Fault fault) {
    if (!broker.isDone() || brokerStopped) {
      return Optional.empty();
    }
    servers.broker().pause();
    brokerStopped = true;
    after(fault.length(), this::goOnBroker);
    return Optional.of("broker");
  }

  private void goOnBroker() {
    if (brokerStopped) {
      servers.broker().resume();
      brokerStopped = false;
    }
  }

  /** All connections when the chance is small, else a part of them. */
  private static Optional<String> some(TcpProxy proxy, double which, Consumer<Link> work) {
    List<Link> links = proxy.links();
    List<Link> some =
        which < 0.2 ? links : links.subList(0, (int) Math.ceil(links.size() * (which - 0.2) / 0.8));
    some.forEach(work);
    return some.isEmpty()
        ? Optional.empty()
        : Optional.of(some.size() + " of " + links.size() + " connections");
  }

  private Optional<String> disturb(TcpProxy proxy, Fault fault, Consumer<Link> work) {
    List<Link> disturbed = new ArrayList<>();
    Optional<String> target = some(proxy, fault.which(), work.andThen(disturbed::add));
    after(fault.length(), () -> disturbed.forEach(Link::heal));
    return target;
  }

  private static Optional<String> halfClose(TcpProxy proxy, Fault fault) {
    boolean towardServer = fault.number() % 2 == 0;
    return some(proxy, fault.which(), link -> link.halfClose(towardServer))
        .map(text -> text + (towardServer ? ", toward the server" : ", toward the client"));
  }

  private static int rate(Fault fault) {
    return 1_000 + (int) (fault.which() * MOST_BYTES_PER_SECOND);
  }

  /** Takes connections until the server has no more. */
  private Optional<String> exhaustDatabase(Fault fault) {
    List<AutoCloseable> taken = new ArrayList<>();
    Optional<AutoCloseable> next = servers.place().connect();
    while (next.isPresent()) {
      taken.add(next.get());
      next = servers.place().connect();
    }
    after(fault.length(), () -> taken.forEach(Exhaustion::close));
    return taken.isEmpty() ? Optional.empty() : Optional.of(taken.size() + " connections");
  }

  private Optional<String> snapshot(Fault fault) {
    Optional<AutoCloseable> session = servers.place().snapshot();
    session.ifPresent(held -> after(fault.length(), () -> Exhaustion.close(held)));
    return session.map(held -> "a session");
  }
}
