package dev.outbox.cli;

import static java.util.Objects.requireNonNullElseGet;

import dev.outbox.OutboxException;
import dev.outbox.Texts;
import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.relay.InboxHousekeeping;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayState;
import dev.outbox.relay.SchemaProbe;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StoreProvider.Opened;
import dev.outbox.ui.OutboxPage;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The relay of one database, with a pool and a publisher of its own: calls of one publisher at the
 * same time must have no key in common, and keys of two databases may be equal.
 */
final class DatabaseRelay implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private static final int LEAST_CONNECTIONS = 4;

  /** How many connections health and metrics use at once. */
  private static final int SERVED = 2;

  private final String name;
  private final RelayConfig config;
  private final Logger log;
  private final Opened outbox;
  private final MessagePublisher publisher;
  private final Relay relay;
  private final RelayState state = new RelayState();
  private final SchemaProbe schema;
  private final @Nullable OutboxMetrics metrics;
  private final CompletableFuture<Boolean> first = new CompletableFuture<>();
  private volatile @Nullable Thread starting;
  private volatile @Nullable InboxHousekeeping purging;

  /** Null: it runs, or did. */
  private volatile @Nullable String notStarted = "its database has not answered yet";

  private volatile boolean stopped;

  private DatabaseRelay(
      String name, RelayConfig config, int databases, Opened outbox, MessagePublisher publisher) {
    this.name = name;
    this.config = config;
    this.outbox = outbox;
    this.publisher = publisher;
    log = LoggerFactory.getLogger(RelayProcess.class.getName() + (isOnly() ? "" : "." + name));
    schema = new SchemaProbe(outbox.store());
    Relay.Builder builder = Relay.builder(outbox.store(), publisher).listener(state);
    metrics = config.server() == null ? null : metrics(builder);
    config.configure(builder);
    relay = (isOnly() ? builder : builder.oneOfSeveral(name, databases)).build();
  }

  private OutboxMetrics metrics(Relay.Builder builder) {
    OutboxMetrics made =
        OutboxMetrics.builder(Stores.as(StatisticsStore.class, outbox.store()))
            .tags(isOnly() ? Tags.empty() : Tags.of("database", name))
            .build();
    builder.listener(made);
    return made;
  }

  /**
   * Makes ready what it needs; asks the database nothing.
   *
   * @param name empty: it is the only one
   * @param databases how many the process has
   * @throws Failure when a setting is refused
   */
  @SuppressWarnings("try")
  static DatabaseRelay open(String name, RelayConfig config, int databases) {
    try {
      Opened outbox = Stores.open(config.address(), config.dedupWindow(), connections(config));
      MessagePublisher publisher = null;
      try {
        publisher = config.publisher();
        return new DatabaseRelay(name, config, databases, outbox, publisher);
      } catch (RuntimeException e) {
        try (Opened pool = outbox;
            MessagePublisher broker = publisher) {
          throw e;
        }
      }
    } catch (IllegalArgumentException | Failure | OutboxException e) {
      throw new Failure(RelayConfig.of(name, String.valueOf(e.getMessage())), e);
    }
  }

  /**
   * One for each worker, one that holds, one for the relay's housekeeping, one for an inbox's, and
   * those of what is served. A smaller pool than this least is not given to a relay that holds.
   */
  private static int connections(RelayConfig config) {
    return Math.max(LEAST_CONNECTIONS, config.workers() + 2)
        + (config.inboxPrefix() == null ? 0 : 1)
        + (config.server() == null ? 0 : SERVED)
        + (config.hasPage() ? OutboxPage.MOST_READS : 0);
  }

  private boolean isOnly() {
    return name.isEmpty();
  }

  String name() {
    return name;
  }

  /** Null where nothing is served. */
  @Nullable OutboxMetrics metrics() {
    return metrics;
  }

  OutboxPage page(PageSettings settings) {
    return settings.page(outbox.store(), "the page of a relay");
  }

  /**
   * Starts the relay in a thread of its own.
   *
   * @param goesOn whether it is tried again after a failure
   * @return how the first try ends
   */
  CompletableFuture<Boolean> start(CompletableFuture<Boolean> goesOn) {
    Thread thread = BackgroundTasks.daemon("outbox-start", () -> keepStarting(goesOn));
    starting = thread;
    thread.start();
    return first;
  }

  private void keepStarting(CompletableFuture<Boolean> goesOn) {
    String logged = null;
    while (!stopped && !isStarted() && goesOn.join()) {
      String why = notStarted;
      if (why != null && !why.equals(logged)) {
        log.warn("It has not started, and is tried every {} s: {}", PAUSE.toSeconds(), why);
        logged = why;
      }
      try {
        Thread.sleep(PAUSE.toMillis());
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private boolean isStarted() {
    try {
      startNow();
      notStarted = null;
      first.complete(true);
      if (stopped) {
        relay.close();
      }
    } catch (RuntimeException | Error e) {
      notStarted =
          Secrets.mask(
              e instanceof OutboxException || e instanceof Failure
                  ? String.valueOf(e.getMessage())
                  : e.toString());
      first.completeExceptionally(e);
    }
    return notStarted == null;
  }

  private void startNow() {
    try (Opened once = Stores.connect(config.address())) {
      String gap = gap(config, once.store());
      if (gap != null) {
        PageSettings server = config.server();
        if (server != null && server.allowChanges()) {
          throw new Failure(gap + "; ui.allowChanges needs it");
        }
        log.warn(gap);
      }
    }
    if (stopped) {
      return;
    }
    if (purging == null && config.inboxPrefix() != null) {
      purging = purging(config.inboxPrefix());
    }
    log.info(
        "From {} to {}",
        config.address(),
        requireNonNullElseGet(
            publisher.address(), () -> config.text(Publishers.NAMES, Publishers.DEFAULT)));
    relay.start();
  }

  /**
   * A warning for a relay that was not told of an archive that is there, or null. Messages that are
   * missing in an archive would be noticed much later.
   */
  static @Nullable String gap(RelayConfig config, OutboxStore<?> store) {
    return !config.saysArchive() && store instanceof ArchiveStore archive && archive.hasArchive()
        ? "This outbox has an archive, and this relay keeps nothing in it: set store.archive to full or metadata, as the other relays do, or to none if that is what you want"
        : null;
  }

  /** Purges the inbox beside the outbox. */
  private InboxHousekeeping purging(String prefix) {
    InboxStore<?> inbox = Stores.inbox(outbox, prefix);
    Stores.verify(inbox);
    return InboxHousekeeping.start(
        inbox,
        e ->
            log.warn(
                "The inbox {}* was not purged, the next try is in {}: {}",
                prefix,
                Texts.time(InboxHousekeeping.PAUSE),
                e instanceof OutboxException ? e.getMessage() : e.toString()));
  }

  /** Why it has not started; null when it has. */
  @Nullable String notStarted() {
    return notStarted;
  }

  /** Whether to start the process anew. */
  List<Finding> live() {
    return Findings.of(
        name,
        List.of(
            notStarted == null
                ? RelayState.threads(relay.isAlive())
                : Finding.fine("relay", "not started yet")));
  }

  /** Whether it delivers; takes some seconds when the database does not answer. */
  List<Finding> ready() {
    String why = notStarted;
    List<Finding> findings = new ArrayList<>();
    if (why == null) {
      findings.add(schema.ask());
      findings.addAll(state.findings(relay.isAlive()));
    } else {
      findings.add(Finding.problem("relay", "it has not started: " + why, null));
    }
    return Findings.of(name, findings);
  }

  /** Stops the relay, or to start it; a try to connect that goes on ends without starting it. */
  void stop() {
    stopped = true;
    if (starting != null) {
      starting.interrupt();
      try {
        starting.join(PAUSE.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (notStarted == null) {
      relay.close();
    }
  }

  /** Closes what the relay used, after {@link #stop}. */
  @Override
  @SuppressWarnings("try") // closed in reverse order, each whatever another throws
  public void close() {
    try (Opened pool = outbox;
        MessagePublisher broker = publisher;
        OutboxMetrics meters = metrics;
        InboxHousekeeping inbox = purging) {
      // nothing but that
    }
  }
}
