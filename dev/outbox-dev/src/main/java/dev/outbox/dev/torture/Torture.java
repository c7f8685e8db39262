package dev.outbox.dev.torture;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import dev.outbox.Archive;
import dev.outbox.OutboxException;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.common.Resources;
import dev.outbox.dev.database.Place.Effect;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.database.Tortured.Kept;
import dev.outbox.dev.database.Work.DeadLetter;
import dev.outbox.dev.torture.Fleet.Role;
import dev.outbox.dev.torture.Journal.Line;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.DeadLetterStore;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.KeepingStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * One run: rounds of faults, after each of which all is healed and must be delivered, and in the
 * end the oracle's word.
 */
final class Torture {
  /**
   * A run.
   *
   * @param database one of {@link Servers#DATABASES}
   * @param time how long faults happen; what comes before and after takes longer
   * @param seed of all that is random in the plan and in the processes
   * @param faultsPerMinute on average
   * @param archive what the outbox keeps of messages that leave it
   * @param history an empty directory for what happened; its path is absolute
   */
  record Settings(
      StoreKind database,
      Broker.Kind broker,
      int relays,
      Duration time,
      long seed,
      double faultsPerMinute,
      Archive archive,
      Path history) {}

  /**
   * What a run did and found.
   *
   * @param did for people, a line for each name
   * @param faultCount how many faults there were
   * @param violations a sentence each
   */
  record Summary(Map<String, String> did, long faultCount, List<String> violations) {
    private static final int SHOWN = 20;

    String text() {
      StringBuilder text = new StringBuilder();
      did.forEach((name, what) -> text.append("%-12s %s\n".formatted(name, what)));
      text.append("%-12s %s\n".formatted("violations", violations.size()));
      violations.stream().limit(SHOWN).forEach(v -> text.append("  ").append(v).append('\n'));
      return text.toString();
    }
  }

  private static final int KEYS = 60;

  /** Of faults, before all is healed. */
  private static final Duration ROUND = Duration.ofSeconds(50);

  private static final Duration TICK = Duration.ofMillis(20);
  private static final Duration LOOK = Duration.ofMillis(500);

  /** Of the relay's {@code Destinations}, which nobody sets. */
  private static final Duration LONGEST_WAIT_FOR_A_TOPIC = Duration.ofSeconds(30);

  /**
   * So long nothing may move while something waits, once all faults are over: a lease, a retry, the
   * relay's longest wait for a topic that was away, an answer that does not come; and a busy
   * machine.
   */
  private static final Duration STANDSTILL =
      RelayMain.LEASE
          .plus(RelayMain.LONGEST_RETRY)
          .plus(LONGEST_WAIT_FOR_A_TOPIC)
          .plus(Servers.PATIENCE)
          .plusSeconds(60);

  private static final int MOST_TRIES = 120;

  /** So many of the keys that were locked last are begun again in the end. */
  private static final int BEGUN_AGAIN = 500;

  private static final Duration CONSUMERS = Duration.ofMinutes(2);

  private final Settings settings;
  private final Consumer<String> progress;
  private final Journal journal;
  private final Fault.Plan plan;
  private final Clocks clocks;
  private final Servers servers;
  private final Fleet fleet;
  private final Havoc havoc;
  private final Operator operator;
  private final List<String> seen = new ArrayList<>();
  private Duration longestStandstill = Duration.ZERO;

  /**
   * @param resources get what is to be closed, as soon as it is open
   */
  private Torture(Settings settings, Consumer<String> progress, Resources resources)
      throws IOException, InterruptedException {
    this.settings = settings;
    this.progress = progress;
    Path directory = settings.history();
    journal = resources.add(Journal.open(directory, "torture"));
    Random random = new Random(settings.seed());
    plan = new Fault.Plan(random.nextLong(), settings.faultsPerMinute());
    clocks = new Clocks(directory);
    servers = new Servers(settings, KEYS, resources);
    Map<String, String> forAll = servers.settings();
    forAll.put("directory", directory.toString());
    forAll.put("keys", "" + KEYS);
    fleet = resources.add(new Fleet(forAll, directory, clocks, random.nextLong()));
    havoc = new Havoc(servers, fleet, clocks, journal);
    operator =
        new Operator(
            (DeadLetterStore) servers.place.store(),
            settings.archive() == Archive.NONE ? null : Who.named("operator"),
            new Operator.Repairs(directory),
            journal,
            new Random(random.nextLong()),
            new HashSet<>());
  }

  /**
   * Runs it.
   *
   * @param progress is told a sentence now and then
   * @throws UnsupportedOperationException when it cannot be done on this machine, with the reason
   * @throws Exception when the servers do not work, which is not what is tested
   */
  static Summary run(Settings settings, Consumer<String> progress) throws Exception {
    if (!ChildJvm.canStop()) {
      throw new UnsupportedOperationException("Windows has no SIGSTOP to stop processes with");
    }
    try (Resources resources = new Resources()) {
      return new Torture(settings, progress, resources).run();
    }
  }

  private Summary run() throws Exception {
    try {
      if (!clocks.canShift) {
        progress.accept("no clock is shifted: that takes Linux and a C compiler, cc");
      }
      fleet.launch(settings.relays());
      Duration left = settings.time();
      for (int round = 1; !left.isNegative() && !left.isZero(); round++) {
        Duration length = left.compareTo(ROUND) < 0 ? left : ROUND;
        trouble(length);
        calm();
        left = left.minus(length);
        progress.accept(
            "round %s: %s faults so far, %s violations seen"
                .formatted(round, havoc.count(), seen.size()));
        if (!left.isNegative() && !left.isZero()) {
          fleet.goOn();
        }
      }
      return judge();
    } finally {
      servers.copyLogs(settings.history());
    }
  }

  /** Faults, one after the other, for so long. */
  private void trouble(Duration length) throws InterruptedException {
    long begin = System.nanoTime();
    long nextLook = begin;
    Fault fault = plan.next();
    long due = begin + fault.after().toNanos();
    while (System.nanoTime() - begin < length.toNanos()) {
      long now = System.nanoTime();
      if (due - now <= 0) {
        havoc.apply(fault);
        fault = plan.next();
        due = now + fault.after().toNanos();
      }
      havoc.heal();
      if (nextLook - now <= 0) {
        look(false);
        nextLook = now + LOOK.toNanos();
      }
      Thread.sleep(TICK.toMillis());
    }
  }

  /** What must hold at any time, while the database answers; and the operator's work. */
  private void look(boolean all) {
    saw(fleet.replaceEnded());
    try {
      saw(servers.place.wrong());
      operator.look(all);
    } catch (OutboxException e) {
      // the database is away
    }
  }

  private void saw(List<String> violations) {
    for (String violation : violations) {
      if (!seen.contains(violation)) {
        seen.add(violation);
        journal.write("violation", violation);
        progress.accept("VIOLATION " + violation);
      }
    }
  }

  /** All is healed, and nothing new comes: what is there must be delivered. */
  private void calm() throws InterruptedException {
    havoc.healAll();
    saw(fleet.pause());
    journal.write("calm");
    long least = Long.MAX_VALUE;
    long moved = System.nanoTime();
    while (true) {
      look(true);
      long waiting = certainly(servers.place::waiting);
      long now = System.nanoTime();
      if (waiting < least) {
        least = waiting;
        moved = now;
      }
      Duration standstill = Duration.ofNanos(now - moved);
      if (standstill.compareTo(longestStandstill) > 0) {
        longestStandstill = standstill;
      }
      if (waiting == 0) {
        saw(certainly(servers.place::wrong));
        return;
      }
      if (standstill.compareTo(STANDSTILL) > 0) {
        saw(
            List.of(
                "stuck: nothing has moved for %s, and %s messages wait, as %s"
                    .formatted(standstill, waiting, certainly(servers.place::firstWaiting))));
        return;
      }
      Thread.sleep(TICK.toMillis());
    }
  }

  /** A database that has just come back may refuse connections for a moment. */
  private static <R> R certainly(Supplier<R> question) throws InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return question.get();
      } catch (OutboxException e) {
        if (tries == MOST_TRIES) {
          throw e;
        }
        Thread.sleep(LOOK.toMillis());
      }
    }
  }

  private Summary judge() throws Exception {
    saw(fleet.end(Role.PRODUCER, Role.RELAY));
    long held = servers.place.held();
    if (held > 0) {
      saw(List.of(held + " buckets or keys are still leased after all relays have ended"));
    }
    List<Oracle.Delivery> log = servers.log();
    awaitConsumers(log);
    saw(fleet.end(Role.CONSUMER));
    List<Line> lines = Journal.readAll(settings.history());
    Oracle oracle = new Oracle(servers.place.appended());
    seen.forEach(oracle::saw);
    List<DeadLetter> letters = servers.place.deadLetters();
    Set<UUID> delivered = oracle.compareDeliveries(log);
    oracle.compareLost(delivered, letters, operator.discarded());
    int cancelled = oracle.compareCancelled(lines, delivered);
    Optional<Kept> kept = servers.place.kept();
    kept.ifPresent(
        all -> {
          oracle.compareArchive(all.archived(), all.left(), delivered, operator.discarded());
          oracle.compareAudit(lines, all.audit());
        });
    oracle.compareCommits(lines);
    oracle.compareDuplicates();
    oracle.compareConsumers(lines, log);
    int claims = oracle.compareClaims(lines);
    oracle.compareSettled(lines);
    if (oracle.count() == 0 || claims == 0) {
      oracle.saw("nothing was appended, or nothing claimed: see the processes' logs");
    }
    long handedOver = Journal.of(lines, "handed-over").size();
    if (handedOver == 0
        && servers.place.store() instanceof KeepingStore<?> able
        && able.handsOver()) {
      oracle.saw("no message was handed over: see the relays' logs");
    }
    oracle.compareReasons(lines, letters);
    List<Effect> effects = servers.place.effects();
    InboxOracle inbox = new InboxOracle(lines, oracle::saw);
    inbox.compareEffects(effects);
    inbox.compareLocks();
    inbox.compareResults();
    compareStuck(lines, oracle);
    if (effects.isEmpty() || inbox.count("completed") == 0) {
      oracle.saw("no consumer handled anything: see the processes' logs");
    }
    Map<String, String> did = new LinkedHashMap<>();
    did.put(
        "servers",
        "%s and %s, %s relays, seed %s, %s s of faults"
            .formatted(
                settings.database(),
                settings.broker(),
                settings.relays(),
                settings.seed(),
                settings.time().toSeconds()));
    did.put("faults", havoc.count() + ": " + list(havoc.happened));
    did.put(
        "troubles",
        list(
            Journal.of(lines, "trouble").stream()
                .collect(groupingBy(line -> line.detail(0), TreeMap::new, counting()))));
    did.put(
        "messages",
        "%s committed, %s deliveries of which %s again, %s discarded, %s cancelled and %s too late"
            .formatted(
                oracle.count(),
                log.size(),
                log.size() - delivered.size(),
                operator.discarded().size() - cancelled,
                cancelled,
                Journal.of(lines, "cancel").size() - cancelled));
    int archived = kept.map(all -> all.archived().size()).orElse(0);
    String archive = settings.archive().name().toLowerCase(Locale.ROOT);
    did.put("archive", "%s, %s messages".formatted(archive, archived));
    did.put("claims", "" + claims);
    did.put("handed over", handedOver + " appends");
    did.put(
        "inboxes",
        "%s effects, %s repetitions told, %s locks"
            .formatted(
                effects.size() + inbox.count("completed"),
                inbox.count("repeated"),
                inbox.count("locked")));
    did.put("standstill", longestStandstill.toMillis() + " ms at most, once all faults were over");
    Summary summary = new Summary(did, havoc.count(), oracle.violations);
    write(summary, lines);
    return summary;
  }

  private static String list(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .map(e -> e.getKey() + " " + e.getValue())
        .collect(joining(", "));
  }

  private void awaitConsumers(List<Oracle.Delivery> log) throws IOException, InterruptedException {
    long until = System.nanoTime() + CONSUMERS.toNanos();
    while (until - System.nanoTime() > 0) {
      Oracle oracle = new Oracle(List.of());
      oracle.compareConsumers(Journal.readAll(settings.history()), log);
      if (oracle.violations.isEmpty()) {
        return;
      }
      Thread.sleep(LOOK.toMillis());
    }
  }

  /** All consumers have ended, and what they held runs out: whatever is not done can be begun. */
  private void compareStuck(List<Line> lines, Oracle oracle) throws InterruptedException {
    Thread.sleep(Math.max(Handling.LOCK_MILLIS, servers.place.longestHold().toMillis()));
    InboxStore<?> inbox = servers.place.inbox(null);
    List<Line> locked = Journal.of(lines, "locked");
    for (Line line : locked.subList(Math.max(0, locked.size() - BEGUN_AGAIN), locked.size())) {
      UUID message = UUID.fromString(line.detail(2));
      InboxKey key = Handling.key(Handling.Way.valueOf(line.detail(1)), message);
      Begin<?> begin = inbox.begin(key, Duration.ofMillis(1), Handling.fingerprint(message));
      if (begin instanceof Begin.InProgress || begin instanceof Begin.Mismatch) {
        oracle.saw("nobody handles %s, and it cannot be begun: %s".formatted(key, begin));
      }
      if (begin instanceof Begin.Started<?> started) {
        boolean ignored = started.lock().complete();
      }
    }
  }

  /** The summary, and all journals as one, in the order of time. */
  private void write(Summary summary, List<Line> lines) throws IOException {
    long begin = lines.stream().mapToLong(Line::at).min().orElse(0);
    Stream<String> history =
        lines.stream()
            .sorted(Comparator.comparingLong(Line::at))
            .map(
                line ->
                    String.format(
                        Locale.ROOT,
                        "%10.3f %-12s %s %s",
                        (line.at() - begin) / 1e9,
                        line.process(),
                        line.what(),
                        String.join(" ", line.details())));
    Files.writeString(settings.history().resolve("summary.txt"), summary.text());
    Files.write(settings.history().resolve("history.txt"), (Iterable<String>) history::iterator);
  }
}
