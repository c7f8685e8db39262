package dev.outbox.relay;

import static java.util.Objects.requireNonNull;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.PauseStore;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Stands between a store and a publisher: claims messages, publishes them and settles what came of
 * it, at least once and in order for each key. Any number of relays may run on one store, in any
 * number of processes.
 *
 * <p>Each worker makes one claim at a time. A call of the publisher runs on a thread of its own, so
 * that the worker can give up on it. Meanwhile the worker renews the lease after each third of its
 * length. With {@code n} workers at most {@code n + 1} store calls run at once: one for each
 * worker, and one for housekeeping. Where the store is a {@link KeepingStore}, one more shows that
 * the relay lives.
 *
 * <p>An outage of the broker costs no message an attempt, however long it is. Messages that the
 * broker could not take are released as they were, and all workers pause until a few messages get
 * through.
 *
 * <p>Neither store nor publisher is closed by the relay. Safe for use by many threads.
 */
public final class Relay implements AutoCloseable {
  /** When all workers wait for a publisher for so long, others may have the keys. */
  private static final Duration UNCLAIMED = Duration.ofSeconds(1);

  /** How long a relay that stops waits for another to take its keys over. */
  private static final Duration LEAVES = Duration.ofSeconds(2);

  /** The same, as a part of the time to stop. */
  private static final int LEAVES_PART = 4;

  /** A relay that stands by does one of so many rounds of housekeeping. */
  private static final int ROUNDS_STANDING_BY = 10;

  private enum State {
    NEW,
    RUNNING,
    CLOSED
  }

  private final OutboxStore<?> store;
  private final Settings settings;
  private final RelayListener listener;
  private final Waiting waiting;
  private final RelayThreads threads;
  private final Keeper keeper;
  private final Worker.Shared shared;
  private final Duration housekeeping;

  /** Rounds of housekeeping while the relay stands by. Used by the thread that housekeeps. */
  private int round;

  private State state = State.NEW;

  private Relay(Builder builder, Settings settings) {
    this.settings = settings;
    store = builder.store;
    housekeeping = builder.housekeeping;
    listener = new Listeners(builder.listeners);
    DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();
    waiting =
        new Waiting(
            settings.stopTimeout(),
            new Pauses(settings.idlePause(), random, builder.clock),
            builder.clock);
    threads = new RelayThreads(settings.name(), waiting, listener);
    keeper =
        store instanceof KeepingStore<?> able
            ? able.keeper(unclaimed(builder.unclaimed, settings.idlePause()))
            : Keeper.ofNothing(store);
    shared =
        new Worker.Shared(
            builder.publisher,
            settings,
            new Verdicts(
                settings.name(),
                builder.retryPolicy,
                builder.haltKeyWhenDead,
                new Destinations(),
                listener),
            new Breaker(settings.name(), settings.batchSize(), random, listener),
            new OperatorPauses(
                settings.name(),
                store instanceof PauseStore able ? able : null,
                listener,
                System::nanoTime),
            waiting,
            listener,
            threads.publishing(),
            System::nanoTime);
  }

  /** Longer than a worker that is idle waits between two claims. */
  private static Duration unclaimed(Duration least, Duration idlePause) {
    Duration twice = idlePause.multipliedBy(2);
    return least.compareTo(twice) < 0 ? twice : least;
  }

  /** A builder of a relay between a store and a publisher; the relay closes neither. */
  public static Builder builder(OutboxStore<?> store, MessagePublisher publisher) {
    return new Builder(store, publisher);
  }

  /**
   * Starts the workers; returns at once. Does nothing when they run already. Their threads are
   * daemons: they do not keep a JVM alive. When it throws, nothing of the relay runs.
   *
   * @throws dev.outbox.SchemaException when the store's tables are missing or of another version;
   *     the relay can be started later
   * @throws dev.outbox.OutboxException when the store cannot check them; the relay can be started
   *     later
   * @throws IllegalStateException after {@link #close}
   */
  public void start() {
    if (isRunning()) {
      return;
    }
    String place = null;
    if (store instanceof SchemaStore schema) {
      schema.verify();
      place = schema.place();
    }
    begin(place);
  }

  private synchronized boolean isRunning() {
    refuseWhenClosed();
    return state == State.RUNNING;
  }

  /**
   * Unless another start was quicker. When a thread cannot be started, the relay is closed.
   *
   * @param place where the tables are, if the store can say
   */
  private synchronized void begin(@Nullable String place) {
    if (isRunning()) {
      return;
    }
    state = State.RUNNING;
    try {
      listener.on(new RelayEvent.Started(settings.name(), settings.workers(), place));
      if (state == State.CLOSED) { // by the listener
        return;
      }
      if (store instanceof KeepingStore<?>) {
        threads.start(keeper);
      }
      for (int i = 0; i < settings.workers(); i++) {
        threads.start(new Worker(settings.name() + "/" + i, keeper, shared));
      }
      threads.start(this::housekeep, housekeeping);
      String address = shared.publisher().address();
      if (address != null) {
        threads.start(
            new BrokerCheck(settings.name(), shared.publisher(), address, waiting, listener));
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * A relay that stands by does it now and then: it may be the only one that is set to purge
   * something.
   */
  private void housekeep() {
    if (!keeper.standsBy() || ++round % ROUNDS_STANDING_BY == 0) {
      store.housekeep();
    }
  }

  private synchronized void refuseWhenClosed() {
    if (state == State.CLOSED) {
      throw new IllegalStateException(
          "relay %s is closed and cannot run again: build a new one".formatted(settings.name()));
    }
  }

  /**
   * Publishes what is due now, in the calling thread, whether or not the relay was started. Returns
   * when a claim brings nothing more, when the broker cannot be reached, when the store fails (the
   * listener is told; a settle is tried again while the lease lasts), or when the relay is closed.
   * Does not wait for messages that are due for a retry later. For tests, and for jobs that run now
   * and then.
   *
   * @throws InterruptedException when the calling thread is interrupted; what was claimed is
   *     claimed again after its lease
   * @throws IllegalStateException after {@link #close}
   */
  public void runOnce() throws InterruptedException {
    refuseWhenClosed();
    Worker worker = new Worker(settings.name() + "/once", store, shared);
    try {
      Worker.Round round;
      do {
        round = worker.round();
      } while (round == Worker.Round.BUSY && !waiting.stopping());
    } finally {
      worker.release();
    }
  }

  /**
   * Says that messages were committed: the relay polls at once, so that they are on their way
   * within milliseconds. On PostgreSQL relays in other processes do so too, if they hold the keys.
   * Cheap; may be called from any thread, as often as you like. Does nothing while the relay does
   * not run.
   */
  public void wake() {
    waiting.expect(1);
    tell();
  }

  private void tell() {
    if (keeper.announce()) {
      waiting.announced();
    } else {
      waiting.committed();
    }
  }

  /**
   * Appends to this relay's store, and returns an object to call after the commit. Where the store
   * can do that, the call hands over messages whose keys this relay holds, and they are published
   * without being read. For the others it does what {@link #wake} does.
   *
   * @param store the relay's own
   * @return its {@code committed} is to be called only after a commit that is known to have
   *     succeeded. PostgreSQL's may be a rollback in silence where a statement has failed before:
   *     {@link KeepingStore#canCommit}. Where it is not called, as after a rollback, nothing
   *     happens
   * @throws dev.outbox.OutboxException as {@link dev.outbox.Outbox#append}
   */
  public <T> Uncommitted append(OutboxStore<T> store, T transaction, List<OutboxMessage> messages) {
    if (store != this.store) {
      throw new IllegalArgumentException(
          "this is not the store of relay %s: append to that one".formatted(settings.name()));
    }
    Uncommitted uncommitted =
        store instanceof KeepingStore<T> able
            ? able.append(keeper, transaction, messages)
            : Uncommitted.of(store.append(transaction, messages));
    int count = messages.size(); // or a long transaction would keep all its payloads
    return Uncommitted.of(uncommitted.appended(), () -> committed(uncommitted, count));
  }

  private Committed committed(Uncommitted uncommitted, int messages) {
    waiting.expect(messages); // before a worker can find them
    Committed committed = uncommitted.committed();
    switch (committed) {
      case HANDED_OVER -> waiting.wake();
      case HERE -> waiting.announced();
      case ELSEWHERE -> waiting.expectLess(messages);
      case UNKNOWN -> tell();
    }
    return committed;
  }

  /**
   * Whether it was started, was not closed, and the threads of all its workers are alive: for
   * health checks. Nothing that a store, a publisher or a listener throws ends a worker. Workers
   * whose claims or settles the store refuses are alive; {@link RelayEvent.StoreFailed} tells of
   * them.
   */
  public synchronized boolean isAlive() {
    return state == State.RUNNING && threads.alive();
  }

  /**
   * Stops. Hands its keys to another relay, if there is one, for a second or two at most. Then it
   * claims nothing more, and waits for running publish calls for most of the stop timeout before it
   * interrupts them. It settles what has a result and releases the rest as it was. Returns after
   * the stop timeout at the latest: what a store or publisher that does not answer still holds then
   * is claimed again after its lease. A {@link #runOnce} under way is cut short. Does nothing when
   * closed already.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (state == State.CLOSED) {
        return;
      }
      state = State.CLOSED;
    }
    long began = System.nanoTime();
    leave();
    waiting.stop(Duration.ofNanos(System.nanoTime() - began));
    listener.on(new RelayEvent.Stopped(settings.name(), threads.stop()));
  }

  /** The workers go on meanwhile, so that no key stands still. */
  private void leave() {
    Duration part = settings.stopTimeout().dividedBy(LEAVES_PART);
    if (threads.alive()) {
      try {
        keeper.leave(part.compareTo(LEAVES) < 0 ? part : LEAVES);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (RuntimeException | Error e) {
        listener.on(
            new RelayEvent.StoreFailed(
                settings.name(), "let go", SupervisedLoop.asRuntimeException(e)));
      }
    }
  }

  /** Collects the settings; {@link #build} checks them. Not safe for use by many threads. */
  public static final class Builder {
    /** Default of {@link #workers}: 2. */
    public static final int DEFAULT_WORKERS = 2;

    /** Default of {@link #batchSize}: 1,000. */
    public static final int DEFAULT_BATCH_SIZE = 1_000;

    /** Default of {@link #batchBytes}: 8 MiB, less on a small heap. */
    public static final long DEFAULT_BATCH_BYTES = 8L << 20;

    /** Default of {@link #lease}: 30 s. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    /** Default of {@link #idlePause}: 500 ms. */
    public static final Duration DEFAULT_IDLE_PAUSE = Duration.ofMillis(500);

    /** Default of {@link #stopTimeout}: 20 s. */
    public static final Duration DEFAULT_STOP_TIMEOUT = Duration.ofSeconds(20);

    private final OutboxStore<?> store;
    private final MessagePublisher publisher;
    private final List<RelayListener> listeners =
        new ArrayList<>(List.of(new LoggingListener(LoggerFactory.getLogger(Relay.class))));
    private @Nullable String name;
    private int workers = DEFAULT_WORKERS;
    private int batchSize = DEFAULT_BATCH_SIZE;
    private @Nullable Long batchBytes;
    private long heap = Runtime.getRuntime().maxMemory();
    private Duration lease = DEFAULT_LEASE;
    private @Nullable Duration publishTimeout;
    private RetryPolicy retryPolicy = RetryPolicy.ofDefaults();
    private Set<String> haltKeyWhenDead = Set.of();
    private Duration idlePause = DEFAULT_IDLE_PAUSE;
    private Duration stopTimeout = DEFAULT_STOP_TIMEOUT;
    private LongSupplier clock = System::nanoTime;
    private Duration housekeeping = RelayThreads.HOUSEKEEPING;
    private Duration unclaimed = UNCLAIMED;

    private Builder(OutboxStore<?> store, MessagePublisher publisher) {
      this.store = requireNonNull(store, "store");
      this.publisher = requireNonNull(publisher, "publisher");
    }

    /**
     * The relay's name, for people: in logs, and in the store beside what is leased. Workers are
     * {@code name/0}, {@code name/1} and so on. At most 200 characters; default: host, process id
     * and a random number.
     */
    public Builder name(String name) {
      this.name = requireNonNull(name, "name");
      return this;
    }

    /** How many claims are worked on at once; default {@value #DEFAULT_WORKERS}. */
    public Builder workers(int workers) {
      this.workers = workers;
      return this;
    }

    /** The most messages of a claim; default {@value #DEFAULT_BATCH_SIZE}. */
    public Builder batchSize(int batchSize) {
      this.batchSize = batchSize;
      return this;
    }

    /**
     * The most payload bytes of a claim, but at least one message. Default: 8 MiB, or less on a
     * small heap: each worker needs twelve times as much, and everything else 32 MiB. {@link
     * #build} refuses what does not fit.
     */
    public Builder batchBytes(long batchBytes) {
      this.batchBytes = batchBytes;
      return this;
    }

    /**
     * How long a claim is held without renewal, and so how long the messages of a lost process
     * wait; at least 100 ms, default 30 s.
     */
    public Builder lease(Duration lease) {
      this.lease = requireNonNull(lease, "lease");
      return this;
    }

    /**
     * How long one call of the publisher may take before the relay gives up on it (P5); below the
     * lease, default five sixths of it. The publisher's own time limit belongs below this one.
     */
    public Builder publishTimeout(Duration publishTimeout) {
      this.publishTimeout = requireNonNull(publishTimeout, "publishTimeout");
      return this;
    }

    /** Default of {@link #publishTimeout}, with a lease: five sixths of it. */
    public static Duration defaultPublishTimeout(Duration lease) {
      return lease.multipliedBy(5).dividedBy(6);
    }

    /**
     * A publisher's own time limit where nobody says one, with a {@link #publishTimeout}: four
     * fifths of it, so that the publisher answers before the relay gives up on it.
     */
    public static Duration defaultPublisherTimeout(Duration publishTimeout) {
      return publishTimeout.multipliedBy(4).dividedBy(5);
    }

    /**
     * How often messages are tried that do not say so themselves, and when. Default: {@link
     * RetryPolicy#ofDefaults()}. Those with a {@link StoredMessage#problem()} are dead at once.
     */
    public Builder retryPolicy(RetryPolicy retryPolicy) {
      this.retryPolicy = requireNonNull(retryPolicy, "retryPolicy");
      return this;
    }

    /**
     * Aggregate types whose dead letters halt their key: the later messages of the key then wait
     * until someone decides (O3). Default: none. With any type, a row that cannot be decoded and
     * has no aggregate type halts its key, too.
     */
    public Builder haltKeyWhenDead(Collection<String> aggregateTypes) {
      haltKeyWhenDead = Set.copyOf(aggregateTypes);
      return this;
    }

    /**
     * The longest pause between two polls, and so the longest wait for the first message after a
     * while without any; from 1 ms, default 500 ms. While there is work, pauses are from 1 to 16
     * ms; they grow when there has been none for some seconds. One worker polls, whatever their
     * number.
     */
    public Builder idlePause(Duration idlePause) {
      this.idlePause = requireNonNull(idlePause, "idlePause");
      return this;
    }

    /** How long {@link Relay#close} may take; default 20 s. */
    public Builder stopTimeout(Duration stopTimeout) {
      this.stopTimeout = requireNonNull(stopTimeout, "stopTimeout");
      return this;
    }

    /**
     * Says that this process has several outboxes, each with a relay. The relays share its heap,
     * and this one logs as {@code dev.outbox.relay.Relay.NAME}.
     *
     * @param outbox the name of this relay's outbox
     * @param outboxes how many there are, at least 1
     */
    public Builder oneOfSeveral(String outbox, int outboxes) {
      listeners.set(
          0, new LoggingListener(LoggerFactory.getLogger(Relay.class.getName() + "." + outbox)));
      return heap(PayloadMemory.REST + (heap - PayloadMemory.REST) / outboxes);
    }

    /** For tests: what tells how long there was no work, and how long a stop took so far. */
    Builder clock(LongSupplier clock) {
      this.clock = clock;
      return this;
    }

    /** The most memory that the relay may have, in bytes. */
    Builder heap(long heap) {
      this.heap = heap;
      return this;
    }

    /** For tests: the pause between two housekeepings. */
    Builder housekeeping(Duration housekeeping) {
      this.housekeeping = housekeeping;
      return this;
    }

    /** For tests: when no worker claims for so long, others may have what this relay holds. */
    Builder unclaimed(Duration unclaimed) {
      this.unclaimed = unclaimed;
      return this;
    }

    /** Adds a listener; the log is written in any case. */
    public Builder listener(RelayListener listener) {
      listeners.add(requireNonNull(listener, "listener"));
      return this;
    }

    /**
     * Checks and builds; starts nothing.
     *
     * @throws IllegalArgumentException naming the setting, its value, what is allowed and what to
     *     do
     */
    public Relay build() {
      Settings settings = settings();
      store.maxConnections().ifPresent(settings::checkPool);
      return new Relay(this, settings);
    }

    private Settings settings() {
      Settings settings = settings(batchBytes != null ? batchBytes : DEFAULT_BATCH_BYTES);
      PayloadMemory fits = new PayloadMemory(heap);
      if (batchBytes == null) {
        return settings(fits.batchBytes(workers, DEFAULT_BATCH_BYTES));
      }
      fits.check(workers, batchBytes);
      return settings;
    }

    private Settings settings(long bytes) {
      return new Settings(
          name != null ? name : Settings.defaultName(),
          workers,
          batchSize,
          bytes,
          lease,
          publishTimeout != null ? publishTimeout : defaultPublishTimeout(lease),
          idlePause,
          stopTimeout);
    }
  }
}
