package dev.outbox.dev.torture;

import dev.outbox.embedded.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** The processes. Used by one thread. */
final class Fleet implements AutoCloseable {

  enum Role {
    RELAY(RelayMain.class),
    PRODUCER(Producers.class),
    CONSUMER(Handling.class);

    private final Class<?> main;

    Role(Class<?> main) {
      this.main = main;
    }
  }

  private static final int PRODUCERS = 2;
  private static final int CONSUMERS = 2;

  private final Map<String, String> settings;
  private final Path directory;
  private final Clocks clocks;
  private final Random random;
  private final List<Member> members = new ArrayList<>();
  private final Map<Role, Integer> started = new HashMap<>();

  /** A place in the fleet, which one process after the other takes. */
  final class Member {
    final Role role;
    String name = "";

    /** The process that has the place now. */
    ChildJvm jvm;

    private Member(Role role) {
      this.role = role;
      jvm = start();
    }

    private ChildJvm start() {
      int number = started.merge(role, 1, Integer::sum);
      name = role.name().toLowerCase(Locale.ROOT) + "-" + number;
      Map<String, String> own = new LinkedHashMap<>(settings);
      own.put("name", name);
      own.put("seed", Long.toString(random.nextLong()));
      return ChildJvm.start(
          role.main, own, clocks.environment(name), directory.resolve(name + ".log"));
    }

    /** SIGKILL; another takes its place. */
    void replace() {
      jvm.close();
      jvm = start();
    }

    void shiftClock(Duration by) {
      clocks.shift(name, by);
    }
  }

  /**
   * @param settings of all
   */
  Fleet(Map<String, String> settings, Path directory, Clocks clocks, long seed) {
    this.settings = settings;
    this.directory = directory;
    this.clocks = clocks;
    random = new Random(seed);
  }

  /** Starts all, and waits until they run. */
  void launch(int relays) {
    launch(Role.RELAY, relays);
    launch(Role.PRODUCER, PRODUCERS);
    launch(Role.CONSUMER, CONSUMERS);
    members.forEach(member -> member.jvm.await(Child.STARTED));
  }

  private void launch(Role role, int count) {
    for (int i = 0; i < count; i++) {
      members.add(new Member(role));
    }
  }

  private List<Member> members(Role... roles) {
    return members.stream().filter(member -> List.of(roles).contains(member.role)).toList();
  }

  /** One of those that run, by chance; empty when all of the role are stopped. */
  Optional<Member> pick(double which, Role... roles) {
    List<Member> running = members(roles).stream().filter(m -> !m.jvm.isStopped()).toList();
    return running.isEmpty()
        ? Optional.empty()
        : Optional.of(running.get((int) (which * running.size())));
  }

  /** Those that ended by themselves, with what they said; others take their places. */
  List<String> replaceEnded() {
    List<String> ended = new ArrayList<>();
    for (Member member : members) {
      if (!member.jvm.isAlive()) {
        ended.add("%s ended by itself: %s".formatted(member.name, member.jvm.said()));
        member.replace();
      }
    }
    return ended;
  }

  /**
   * All go on, with their clocks right; relays have no trouble of their own, and nobody appends.
   * Returns what those said that did not get so far; others take their places.
   */
  List<String> pause() {
    for (Member member : members) {
      member.jvm.go();
      member.shiftClock(Duration.ZERO);
    }
    List<Member> appending = members(Role.RELAY, Role.PRODUCER);
    appending.forEach(member -> member.jvm.send(Child.PAUSE));
    List<String> bad = new ArrayList<>();
    for (Member member : appending) {
      try {
        member.jvm.await(Child.PAUSED);
      } catch (IllegalStateException e) {
        bad.add("%s did not pause: %s".formatted(member.name, e.getMessage()));
        member.replace();
        member.jvm.send(Child.PAUSE);
        member.jvm.await(Child.PAUSED);
      }
    }
    return bad;
  }

  void goOn() {
    members(Role.RELAY, Role.PRODUCER).forEach(member -> member.jvm.send(Child.GO_ON));
  }

  /** Ends them in good order; returns what those that did not end so said. */
  List<String> end(Role... roles) {
    List<Member> ending = members(roles);
    ending.forEach(member -> member.jvm.send(Child.END));
    List<String> bad = new ArrayList<>();
    for (Member member : ending) {
      try {
        if (member.jvm.exitCode() != 0) {
          bad.add("%s did not end well: %s".formatted(member.name, member.jvm.said()));
        }
      } catch (IllegalStateException e) {
        bad.add("%s: %s".formatted(member.name, e.getMessage()));
        member.jvm.close();
      }
    }
    members.removeAll(ending);
    return bad;
  }

  @Override
  public void close() {
    members.forEach(member -> member.jvm.close());
  }
}
