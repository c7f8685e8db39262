package dev.outbox.dev.demo;

import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.cli.Address;
import dev.outbox.cli.Cleanup;
import dev.outbox.cli.DatabaseOptions;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Logs;
import dev.outbox.cli.Main;
import dev.outbox.cli.RelayProcess;
import dev.outbox.cli.Secrets;
import dev.outbox.cli.Terminal;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.common.Load;
import dev.outbox.dev.common.Progress;
import dev.outbox.dev.common.Resources;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StartedServer;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.dev.demo.Account.Verdict;
import dev.outbox.embedded.ChildJvm;
import dev.outbox.embedded.Directories;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.store.core.BucketStore;
import dev.outbox.ui.OutboxPage;
import dev.outbox.ui.PageServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One run, from the servers' start to the table. */
final class Demo {
  /** How the directories of this process begin. */
  static final String LOGS = "outbox-demo-%s-".formatted(ProcessHandle.current().pid());

  /** What a relay and the consumer say, and what is said to them. */
  static final String STARTED = "started";

  static final String STOP = "stop";

  static final String ORDER = "order";
  static final String SHIPMENT = "shipment";

  /** Of the aggregates that the customers' messages are about. */
  static final List<String> TYPES = List.of(ORDER, SHIPMENT);

  /** Short, so that a killed relay's messages do not wait long. */
  private static final Duration LEASE = Duration.ofSeconds(4);

  /** Without any delivery for so long, nothing more is expected. */
  private static final Duration PATIENCE = Duration.ofSeconds(45);

  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(3);

  /**
   * What to do.
   *
   * @param transactions to be committed
   * @param rate transactions a second
   * @param seed of everything random
   * @param database starts it, or connects to the user's own
   * @param broker the kind of broker
   * @param bootstrapServers of the user's own Kafka, or null
   * @param ui whether the operator's page is served
   */
  record Settings(
      int transactions,
      int orders,
      int threads,
      int rate,
      long seed,
      Supplier<StartedServer> database,
      Broker.Kind broker,
      @Nullable String bootstrapServers,
      boolean ui) {
    private static final int QUIET_RATE = 200;

    /** Transactions a second in quiet times: so few that a machine with two cores can idle. */
    int quietRate() {
      return Math.min(rate, QUIET_RATE);
    }
  }

  /** A relay, in a process of its own: the relay that operators run. */
  static final class RelayMain {
    private RelayMain() {}

    public static void main(String[] args) throws Exception {
      ParentJvm parent = ParentJvm.connect();
      Properties properties = new Properties();
      properties.putAll(parent.settings());
      try (RelayProcess relay = RelayProcess.start(properties)) {
        parent.say(STARTED);
        while (!parent.command().equals(STOP)) {}
      }
    }
  }

  private final Settings settings;
  private final PrintWriter out;
  private final Resources resources = new Resources();
  private final Account account = new Account();
  private final Progress progress;
  private final DemoServers servers;
  private final Path logs;

  /** The consumer's process; another follows each that is killed. */
  private @Nullable ChildJvm shipping;

  /** Those that live to the end. */
  private List<ChildJvm> relays = List.of();

  /** The address of the operator's page, if it is served. */
  private String page = "";

  private int consumers;
  private volatile boolean keepLogs;

  /** All is published, or the demo ends. */
  private volatile boolean ended;

  Demo(Settings settings, PrintWriter out) throws IOException {
    this.settings = settings;
    this.out = out;
    progress = new Progress(out, Terminal.isThere(), BETWEEN_LINES);
    servers = new DemoServers(settings, resources);
    logs = Files.createTempDirectory(LOGS);
  }

  /** Returns the exit code. */
  int run() throws InterruptedException {
    Logs.toFile(logs.resolve("demo.log"));
    try (Cleanup ignored = Cleanup.atEnd(this::cleanUp)) {
      Verdict verdict = produceAndConsume();
      out.println();
      verdict.print(out);
      out.println();
      out.println(lastSentence(verdict));
      out.flush();
      if (pageStays()) {
        String unused = Terminal.ask("The page stays at %s. Enter ends it. ".formatted(page), out);
        stopRelays();
      }
      keepLogs = !verdict.good();
      return verdict.good() ? 0 : Main.CHECK_FAILED;
    } finally {
      if (keepLogs && !Cleanup.interrupted()) {
        out.println("The logs are in " + logs);
        out.flush();
      }
    }
  }

  private String lastSentence(Verdict verdict) {
    if (!verdict.good()) {
      return "That must not be: please report it, with the logs and seed " + settings.seed() + ".";
    }
    return "All that was committed is in %s, nothing that was rolled back is, the messages of each key came in order, and the consumer did what each asks for once, although a relay and the consumer were killed%s. Next: README.md shows an application, ./outbox tck checks a database of yours."
        .formatted(
            servers.broker.label(), servers.broker.canStop() ? " and the broker was stopped" : "");
  }

  private Verdict produceAndConsume() throws InterruptedException {
    progress.event("seed " + settings.seed() + "; the servers start");
    servers.start();
    progress.event(servers.names());
    if (settings.ui()) {
      page = servePage();
      progress.event("the operator's page: " + page);
    }
    keepLogs = true;
    Place<?> place = resources.add(StoreKind.at(servers.outbox(), settings.threads() + 1));
    BucketStore<?> store = (BucketStore<?>) place.store();
    ChildJvm a = relay("A");
    ChildJvm b = relay("B");
    Source source = servers.broker.source(Source.Reading.WHOLE);
    CompletableFuture<Void> reading = background("reader", () -> read(source));
    CompletableFuture<Void> showing = background("progress", this::show);
    ChildJvm first = startShipping();
    List.of(a, b, first).forEach(process -> process.await(STARTED));
    progress.event("relays A and B and a consumer run; the order service starts");
    Load customers = resources.add(new Load("the order service", customers(place)));
    ChildJvm c = incidents(a, customers);
    customers.await();
    progress.event("what waits is delivered");
    awaitDelivered(store);
    account.quietFromNow();
    customers.allow(settings.transactions(), settings.quietRate());
    progress.event(
        "quiet times: nothing goes wrong, with %s transactions a second"
            .formatted(settings.quietRate()));
    customers.await();
    awaitDelivered(store);
    relays = List.of(b, c);
    if (!pageStays()) {
      stopRelays();
    }
    ended = true;
    awaitEnd("the consumer", reading);
    stop(requireNonNull(shipping), "the consumer");
    awaitEnd("what is shown meanwhile", showing);
    progress.wipe();
    try (Place<?> consumers = StoreKind.at(servers.inbox())) {
      return account.verdict(
          place.deadLetters(),
          consumers.effects(),
          settings,
          servers.broker.canStop() ? "the kill and the outage are in it" : "the kill is in it");
    }
  }

  /** Whether somebody can look at it after the demo. */
  private boolean pageStays() {
    return settings.ui() && Terminal.canAsk();
  }

  /** It only shows, to those who have its address. */
  private String servePage() {
    Place<?> place = resources.add(StoreKind.at(servers.outbox(), OutboxPage.MOST_READS));
    OutboxPage shown = OutboxPage.builder(place.store()).mask(Secrets::mask).build();
    return resources.add(PageServer.start(Map.of("", shown), Map.of(), "127.0.0.1", 0, null)).url();
  }

  private List<Customer> customers(Place<?> place) {
    return IntStream.range(0, settings.threads())
        .mapToObj(number -> new Customer(number, place, account, settings))
        .toList();
  }

  /** Ends when {@link #ended} is set. The JDK's pool may have no thread to spare. */
  private static CompletableFuture<Void> background(String name, Runnable work) {
    return CompletableFuture.runAsync(
        work,
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          thread.start();
        });
  }

  private static void awaitEnd(String what, CompletableFuture<Void> background) {
    try {
      background.join();
    } catch (CompletionException e) {
      Throwable cause = requireNonNull(e.getCause());
      throw new Failure("%s failed: %s".formatted(what, cause.getMessage()), cause);
    }
  }

  /** Writes down all that is in the broker. */
  private void read(Source source) {
    try (source) {
      source.read(
          () -> ended,
          message -> account.delivered(message.id(), message.key(), System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What goes wrong on purpose: kills, a newcomer, an outage. The customers wait for them where
   * they would be done before, so that each of them meets messages. The last fifth of the
   * transactions is left to quiet times.
   *
   * @return the newcomer
   */
  private ChildJvm incidents(ChildJvm victim, Load customers) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(settings.seed());
    allow(customers, 0.48);
    awaitDone(customers, random.nextDouble(0.08, 0.16));
    killShipping();

    awaitDone(customers, random.nextDouble(0.2, 0.32));
    victim.close();
    progress.event("relay A was killed (SIGKILL)");

    awaitDone(customers, random.nextDouble(0.36, 0.44));
    ChildJvm newcomer = relay("C");
    newcomer.await(STARTED);
    progress.event("relay C was started");

    allow(customers, 0.64);
    awaitDone(customers, random.nextDouble(0.48, 0.6));
    if (servers.broker.canStop()) {
      servers.broker.server().stop();
      progress.event("the broker was stopped");
      allow(customers, 0.8);
      Thread.sleep(random.nextInt(2_000, 4_000));
      servers.broker.server().restart();
      progress.event("the broker is back");
    } else {
      progress.event("the broker is yours: it is not stopped");
      allow(customers, 0.8);
    }
    killShipping();
    return newcomer;
  }

  private void allow(Load customers, double part) {
    customers.allow((long) (part * settings.transactions()), settings.rate());
  }

  private void killShipping() {
    requireNonNull(shipping).close();
    ChildJvm unused = startShipping();
    progress.event("the consumer was killed (SIGKILL), another one goes on");
  }

  /** Until this part of the transactions is committed, 0 to 1. */
  private void awaitDone(Load customers, double part) throws InterruptedException {
    while (account.commits.get() < part * settings.transactions() && !customers.done()) {
      Thread.sleep(20);
    }
  }

  private void show() {
    while (!ended) {
      progress.show(
          String.format(
              Locale.ROOT,
              "%,d of %,d transactions, %,d messages delivered",
              account.commits.get(),
              settings.transactions(),
              account.ledger.published()));
      LockSupport.parkNanos(LOOK.toNanos());
    }
  }

  /**
   * Until nothing is left in the outbox but dead letters and all that was committed has arrived, or
   * nothing happens any more.
   */
  private void awaitDelivered(StatisticsStore store) throws InterruptedException {
    long lastArrived = -1;
    long lastChange = System.nanoTime();
    while (true) {
      StatisticsStore.Statistics now = store.statistics(Integer.MAX_VALUE);
      if (now.pending() + now.scheduled() + now.blocked() == 0
          && account.ledger.outstanding() <= now.dead()) {
        return;
      }
      if (account.ledger.published() != lastArrived) {
        lastArrived = account.ledger.published();
        lastChange = System.nanoTime();
      } else if (System.nanoTime() - lastChange > PATIENCE.toNanos()) {
        progress.event(
            "nothing was delivered for %s s; %s committed messages are missing, and the outbox has %s pending, %s scheduled and %s blocked ones"
                .formatted(
                    PATIENCE.toSeconds(),
                    account.ledger.outstanding(),
                    now.pending(),
                    now.scheduled(),
                    now.blocked()));
        return;
      }
      Thread.sleep(LOOK.toMillis());
    }
  }

  private ChildJvm relay(String name) {
    Address outbox = servers.outbox();
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("store.url", outbox.url());
    properties.put("store.user", outbox.user());
    properties.put("store.password", "${" + DatabaseOptions.PASSWORD_VARIABLE + "}");
    if (outbox.schema() != null) {
      properties.put("store.schema", outbox.schema());
    }
    properties.putAll(servers.broker.relayProperties());
    properties.put("destination", servers.broker.destination());
    properties.put("relay.name", name);
    properties.put("relay.lease", Texts.time(LEASE));
    return resources.add(
        ChildJvm.start(
            RelayMain.class,
            properties,
            Map.of(DatabaseOptions.PASSWORD_VARIABLE, outbox.password()),
            logs.resolve("relay-" + name + ".log")));
  }

  private ChildJvm startShipping() {
    Map<String, String> settings = new LinkedHashMap<>(Place.settings(servers.inbox()));
    settings.putAll(servers.broker.settings());
    Path log = logs.resolve("shipping-" + consumers++ + ".log");
    ChildJvm started = resources.add(ChildJvm.start(DemoShipping.class, settings, Map.of(), log));
    shipping = started;
    return started;
  }

  private void stopRelays() {
    relays.forEach(relay -> stop(relay, "a relay"));
  }

  private static void stop(ChildJvm process, String what) {
    process.send(STOP);
    if (process.exitCode() != 0) {
      throw new Failure(what + " did not stop in good order; it said: " + process.said());
    }
  }

  private void cleanUp() {
    ended = true;
    boolean keeps = keepLogs && !Cleanup.interrupted();
    try {
      if (keeps) {
        servers.copyLogs(logs);
      }
    } catch (IOException e) {
      System.err.println("outbox: the servers' logs could not be saved: " + e.getMessage());
    }
    resources.close();
    if (!keeps) {
      try {
        Directories.delete(logs);
      } catch (UncheckedIOException e) {
        System.err.println("outbox: " + e.getMessage());
      }
    }
  }
}
