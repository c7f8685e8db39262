package dev.outbox.dev.torture;

import dev.outbox.dev.database.Tortured;
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
import java.util.stream.Stream;
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

  /** How many faults of each kind there were; those that found nothing to disturb do not count. */
  final Map<String, Long> happened = new TreeMap<>();

  private final Server database;
  private final Server broker;

  /** The end of a fault. */
  private record Healing(long at, Runnable work) {}

  Havoc(Servers servers, Fleet fleet, Clocks clocks, Journal journal) {
    this.servers = servers;
    this.fleet = fleet;
    this.clocks = clocks;
    this.journal = journal;
    database = new Server("database", servers.database());
    broker = new Server("broker", servers.broker.server());
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
    database.failIfBroken();
    broker.failIfBroken();
  }

  /** Ends all there is, and waits until both servers run. */
  void healAll() {
    List<Healing> all = List.copyOf(healings);
    healings.clear();
    all.forEach(healing -> healing.work().run());
    database.running.join();
    broker.running.join();
    journal.write("healed");
  }

  /** What met it, or nothing when there is nothing to disturb. */
  private Optional<String> tryApply(Fault fault) {
    double which = fault.which();
    return switch (fault.kind()) {
      case KILL_RELAY -> meet(fault, Member::replace, Role.RELAY);
      case KILL_PRODUCER -> meet(fault, Member::replace, Role.PRODUCER);
      case KILL_CONSUMER -> meet(fault, Member::replace, Role.CONSUMER);
      case STOP_RELAY -> meet(fault, member -> stop(member, fault), Role.RELAY);
      case STOP_CONSUMER -> meet(fault, member -> stop(member, fault), Role.CONSUMER);
      case STOP_PRODUCER -> meet(fault, member -> stop(member, fault), Role.PRODUCER);
      case KILL_DATABASE -> database.kill(fault);
      case KILL_BROKER -> broker.kill(fault);
      case RESTART_BROKER -> broker.shutDown();
      case STOP_BROKER -> broker.stop(fault);
      case CUT_DATABASE -> some(servers.toDatabase, which, Link::cut);
      case CUT_BROKER -> some(servers.toBroker, which, Link::cut);
      case STALL_DATABASE -> disturb(servers.toDatabase, fault, Link::stall);
      case STALL_BROKER -> disturb(servers.toBroker, fault, Link::stall);
      case SLOW_DATABASE -> disturb(servers.toDatabase, fault, link -> link.slow(rate(fault)));
      case SLOW_BROKER -> disturb(servers.toBroker, fault, link -> link.slow(rate(fault)));
      case HALF_CLOSE_DATABASE -> halfClose(servers.toDatabase, fault);
      case HALF_CLOSE_BROKER -> halfClose(servers.toBroker, fault);
      case SHIFT_CLOCK -> clocks.canShift ? shift(fault) : Optional.empty();
      case EXHAUST_POOL -> tell(Child.EXHAUST, fault);
      case EXHAUST_DATABASE -> exhaustDatabase(fault);
      case LONG_TRANSACTION -> tell(Child.LONG, fault);
      case SNAPSHOT -> snapshot(fault);
    };
  }

  private void after(Duration time, Runnable work) {
    healings.add(new Healing(System.nanoTime() + time.toNanos(), work));
  }

  /** One of those that have a role, if any of them runs. */
  private Optional<String> meet(Fault fault, Consumer<Member> what, Role... roles) {
    return fleet
        .pick(fault.which(), roles)
        .map(
            member -> {
              String name = member.name;
              what.accept(member);
              return name;
            });
  }

  private void stop(Member member, Fault fault) {
    ChildJvm stopped = member.jvm;
    stopped.stop();
    after(fault.length(), stopped::go);
  }

  private Optional<String> tell(String command, Fault fault) {
    String line = command + " " + fault.length().toMillis();
    return meet(fault, member -> member.jvm.send(line), Role.RELAY, Role.PRODUCER);
  }

  /** Not of consumers: Kafka's polls do not return when the clock has jumped back. */
  private Optional<String> shift(Fault fault) {
    long seconds = (long) ((fault.which() * 1_000 % 1 * 2 - 1) * FARTHEST_SECONDS);
    Consumer<Member> shift =
        member -> {
          member.shiftClock(Duration.ofSeconds(seconds));
          after(fault.length(), () -> member.shiftClock(Duration.ZERO));
        };
    return meet(fault, shift, Role.RELAY, Role.PRODUCER).map(name -> name + " by " + seconds + "s");
  }

  /** The database or the broker; nothing more happens to it before it runs again. */
  private final class Server {
    private final String name;
    private final EmbeddedServer server;
    private CompletableFuture<@Nullable Void> running = CompletableFuture.completedFuture(null);
    private boolean stopped;

    Server(String name, EmbeddedServer server) {
      this.name = name;
      this.server = server;
    }

    /** A server that does not come back is not what is tested here. */
    void failIfBroken() {
      if (running.isCompletedExceptionally()) {
        running.join();
      }
    }

    Optional<String> kill(Fault fault) {
      if (!running.isDone()) {
        return Optional.empty();
      }
      server.kill();
      stopped = false;
      return restart(fault.length());
    }

    /** A stopped one would not hear that it is to shut down. */
    Optional<String> shutDown() {
      if (!running.isDone()) {
        return Optional.empty();
      }
      goOn();
      return restart(Duration.ZERO);
    }

    /** On a thread of its own, because it takes seconds. */
    private Optional<String> restart(Duration after) {
      CompletableFuture<@Nullable Void> restarted = new CompletableFuture<>();
      running = restarted;
      after(
          after,
          () -> {
            var unused =
                restarted.completeAsync(
                    () -> {
                      server.restart();
                      return null;
                    });
          });
      return Optional.of(name);
    }

    Optional<String> stop(Fault fault) {
      if (!running.isDone() || stopped) {
        return Optional.empty();
      }
      server.pause();
      stopped = true;
      after(fault.length(), this::goOn);
      return Optional.of(name);
    }

    private void goOn() {
      if (stopped) {
        server.resume();
        stopped = false;
      }
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
    List<AutoCloseable> taken =
        Stream.generate(servers.place::connect)
            .takeWhile(Optional::isPresent)
            .flatMap(Optional::stream)
            .toList();
    after(fault.length(), () -> taken.forEach(Tortured::close));
    return taken.isEmpty() ? Optional.empty() : Optional.of(taken.size() + " connections");
  }

  private Optional<String> snapshot(Fault fault) {
    Optional<AutoCloseable> session = servers.place.snapshot();
    session.ifPresent(held -> after(fault.length(), () -> Tortured.close(held)));
    return session.map(held -> "a session");
  }
}
