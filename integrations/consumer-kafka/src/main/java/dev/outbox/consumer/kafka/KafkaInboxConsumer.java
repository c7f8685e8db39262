package dev.outbox.consumer.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.outbox.Texts;
import dev.outbox.inbox.Inbox;
import dev.outbox.inbox.InboxKey;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.apache.kafka.common.errors.UnsupportedAssignorException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes topics of Kafka and handles each message once, by an inbox in the database of the
 * effects.
 *
 * <ol>
 *   <li>It polls, and handles record by record, each in a database transaction of its own: {@link
 *       Inbox#firstTime}, and the handler if it is.
 *   <li>After the commits of a poll's records it commits their offsets. What crashes in between
 *       arrives again, and the inbox knows it.
 *   <li>A record that fails is tried again, after delays that grow. Meanwhile its partition is
 *       paused, so that the order holds; the others go on. It is tried until it succeeds, or given
 *       up as {@link Builder#giveUpAfter} says.
 *   <li>What is revoked by a rebalance is forgotten here. Another consumer begins at the last
 *       committed offset, and the inbox tells it what was done.
 * </ol>
 *
 * <p>The order of a partition holds across instances, too. An instance that was taken for dead and
 * goes on cannot overtake its successor. Both ask the inbox for each record in turn, and one waits
 * while the other has that record in an open transaction.
 *
 * <p>{@link #run} is one thread, the caller's. For more threads make more of them, each with a
 * consumer of its own; Kafka divides the partitions.
 *
 * <pre>{@code
 * var shipping =
 *     KafkaInboxConsumer.builder(kafkaConsumer, inbox, Transactions.of(dataSource))
 *         .name("shipping")
 *         .topics("order")
 *         .handler((connection, record) -> ship(connection, record.value()))
 *         .build();
 * new Thread(shipping, "shipping").start();
 * }</pre>
 *
 * @param <T> the transaction's type: {@code java.sql.Connection}, Mongo's {@code ClientSession}
 * @param <K> of the records' keys
 * @param <V> of the records' values
 */
public final class KafkaInboxConsumer<T, K, V> implements Runnable, AutoCloseable {

  /** The header with a message's id, as the publisher of this project writes it. */
  public static final String ID_HEADER = "outbox-id";

  private static final Logger log = LoggerFactory.getLogger(KafkaInboxConsumer.class);
  private static final Duration POLL = Duration.ofSeconds(1);

  /** For the end of the record that is handled; half of it for the last commit to Kafka. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

  /** The longest pause while Kafka does not let it go on; far below max.poll.interval.ms. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  /** Exceptions of Kafka's client that cannot pass while this consumer is there. */
  private static final Set<Class<? extends KafkaException>> LASTING =
      Set.of(
          WakeupException.class,
          InterruptException.class,
          InvalidTopicException.class,
          InvalidGroupIdException.class,
          InvalidOffsetException.class,
          FencedInstanceIdException.class,
          UnreleasedInstanceIdException.class,
          UnsupportedAssignorException.class,
          UnsupportedVersionException.class);

  private final Consumer<K, V> consumer;
  private final String name;
  private final Set<String> topics;
  private final Handling<T, K, V> handling;
  private final int maxTries;
  private final Duration handlingTime;

  /** Offsets of what was handled and is not committed to Kafka yet; for the running thread only. */
  private final Map<TopicPartition, OffsetAndMetadata> handled = new HashMap<>();

  /** What was polled and is not handled yet, by partition; for the running thread only. */
  private final Deque<Deque<ConsumerRecord<K, V>>> left = new ArrayDeque<>();

  private final Failures failures;
  private final Condition condition;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable Thread runner;

  /** How often in a row Kafka did not let it go on. */
  private int setbacks;

  /**
   * Whether the client's position may be beyond a record that is neither handled nor waiting here.
   */
  private boolean unsure;

  private boolean member;

  private KafkaInboxConsumer(
      Builder<T, K, V> b, String name, Set<String> topics, RecordHandler<T, K, V> handler) {
    this.consumer = b.consumer;
    this.name = name;
    this.topics = topics;
    this.handling =
        new Handling<>(b.inbox, b.transactions, name, b.messageId, handler, b.deadLetters);
    this.maxTries = b.maxTries;
    this.handlingTime = b.handlingTime;
    this.failures = new Failures(b.firstDelay, b.maxDelay);
    this.condition = new Condition(name, b.listener);
  }

  /**
   * Starts with the defaults that each setter names.
   *
   * @param consumer not subscribed yet, and used for nothing else; {@link #run} closes it. Among
   *     its settings are a {@code group.id} and {@code enable.auto.commit=false}, and as a rule
   *     {@code auto.offset.reset=earliest}
   * @param inbox in the database of the effects
   * @param transactions of that database
   */
  public static <T, K, V> Builder<T, K, V> builder(
      Consumer<K, V> consumer, Inbox<T> inbox, Transactions<T> transactions) {
    return new Builder<>(consumer, inbox, transactions);
  }

  /**
   * Subscribes, and handles records until {@link #close}, or until this thread is interrupted;
   * closes the consumer in the end. Can run once. Trouble that may pass is waited for: a broker
   * that is away, a missing right, and any {@link KafkaException} that is not named below.
   *
   * @throws RuntimeException what Kafka's consumer throws where trying again cannot help; it was
   *     logged, too. That is an invalid name of a topic or group, no offset to begin at with {@code
   *     auto.offset.reset=none}, another member with the same {@code group.instance.id}, a broker
   *     that is too old, with {@code group.protocol=consumer} an unknown assignor or a right to the
   *     group that has gone, and everything that is no {@link KafkaException}
   * @throws Error what a poll of Kafka's consumer throws, from a deserializer or an interceptor for
   *     example; it was logged, too
   * @throws IllegalStateException when it was run before
   */
  @Override
  public void run() {
    if (!begun.compareAndSet(false, true)) {
      if (isClosed()) {
        return;
      }
      throw new IllegalStateException("consumer %s was run before: build another".formatted(name));
    }
    runner = Thread.currentThread();
    try {
      consumer.subscribe(topics, new Membership());
      while (!isClosed()) {
        roundOrWait();
      }
    } catch (WakeupException e) {
      if (!isClosed()) {
        condition.failed(e);
        throw e;
      }
    } catch (InterruptException e) {
      log.info("Consumer {} ends: its thread was interrupted", name);
    } catch (RuntimeException | Error e) {
      condition.failed(e);
      throw e;
    } finally {
      end();
    }
  }

  private boolean isClosed() {
    return closing.getCount() == 0;
  }

  /** The consumer's status now. For any thread. */
  public ConsumerStatus status() {
    return condition.status();
  }

  /** As {@link Builder#name}. */
  public String name() {
    return name;
  }

  private void roundOrWait() {
    boolean wasMember = member;
    try {
      round();
    } catch (KafkaException | Error e) {
      if (e instanceof Error ? unsure : isLasting(e, wasMember)) {
        throw e;
      }
      condition.waiting(e);
      setbacks++;
      waitFor(failures.delay(setbacks));
      return;
    }
    setbacks = 0;
    if (member) {
      condition.running();
    }
  }

  /**
   * With {@code group.protocol=consumer} a member whose right has gone loses its partitions, and
   * never joins again.
   */
  private boolean isLasting(Throwable e, boolean wasMember) {
    return LASTING.stream().anyMatch(type -> type.isInstance(e))
        || e instanceof GroupAuthorizationException && wasMember && !member;
  }

  private void waitFor(Duration delay) {
    long nanos = Math.min(delay.toNanos(), LONGEST_WAIT.toNanos());
    try {
      boolean unused = closing.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  private void round() {
    unsure = false;
    comeAgain(); // what an Error has left
    consumer.resume(failures.due());
    unsure = true;
    ConsumerRecords<K, V> records = poll();
    for (TopicPartition partition : records.partitions()) {
      left.add(new ArrayDeque<>(records.records(partition)));
    }
    unsure = false;
    handle();
    comeAgain();
    commit();
  }

  /** What is left comes with the next poll: the client's position is never beyond it. */
  private void comeAgain() {
    for (; !left.isEmpty(); left.remove()) {
      ConsumerRecord<K, V> next = left.element().element();
      consumer.seek(Handling.partitionOf(next), next.offset());
    }
  }

  /** Handles one record of each partition in turn, so that none waits for all of another. */
  private void handle() {
    long begin = System.nanoTime();
    while (!left.isEmpty() && !isClosed() && System.nanoTime() - begin < handlingTime.toNanos()) {
      Deque<ConsumerRecord<K, V>> partition = left.element();
      boolean done = handle(partition.element());
      partition.remove();
      left.remove();
      if (done && !partition.isEmpty()) {
        left.add(partition);
      }
    }
  }

  private ConsumerRecords<K, V> poll() {
    try {
      return consumer.poll(failures.untilNext(POLL));
    } catch (RecordDeserializationException e) {
      failed(e.topicPartition(), e.offset(), new Handling.Trouble(e, true));
      return ConsumerRecords.empty();
    }
  }

  /** Whether the next record of its partition may be handled. */
  private boolean handle(ConsumerRecord<K, V> record) {
    TopicPartition partition = Handling.partitionOf(record);
    Handling.Trouble trouble = handling.handle(record);
    if (trouble != null && !isGivenUp(record, trouble)) {
      failed(partition, record.offset(), trouble);
      return false;
    }
    failures.forget(partition);
    handled.put(partition, new OffsetAndMetadata(record.offset() + 1, record.leaderEpoch(), ""));
    return true;
  }

  private boolean isGivenUp(ConsumerRecord<K, V> record, Handling.Trouble trouble) {
    return trouble.ofRecord()
        && !Thread.currentThread().isInterrupted() // then nothing is known about the record
        && failures.faults(Handling.partitionOf(record), record.offset()) + 1 >= maxTries
        && handling.giveUp(record, trouble.why());
  }

  /** Later records of its partition wait for it. */
  private void failed(TopicPartition partition, long offset, Handling.Trouble trouble) {
    Failures.Failure failure = failures.add(partition, offset, trouble.ofRecord());
    consumer.seek(partition, offset);
    consumer.pause(Set.of(partition));
    log.warn(
        "Consumer {} failed the {}. time at the record at offset {} of partition {} of topic {}; the next try comes in {}, later records of the partition wait",
        name,
        failure.tries(),
        offset,
        partition.partition(),
        partition.topic(),
        Texts.time(failure.delay()),
        trouble.why());
  }

  /** What is not committed to Kafka is committed with the next round, or arrives again. */
  private void commit() {
    if (handled.isEmpty()) {
      return;
    }
    try {
      if (isClosed()) { // who closes waits for it
        consumer.commitSync(Map.copyOf(handled), CLOSE_TIMEOUT.dividedBy(2));
      } else {
        consumer.commitSync(Map.copyOf(handled));
      }
      handled.clear();
    } catch (CommitFailedException e) {
      handled.clear();
      log.info("Consumer {} has lost its partitions to another, which knows what is done", name);
    } catch (RebalanceInProgressException e) {
      log.info("Consumer {} commits its offsets after the rebalance", name);
    }
  }

  /** Commits what is done, also when interrupted or woken by {@link #close}. */
  private void end() {
    boolean interrupted = Thread.interrupted();
    try {
      comeAgain(); // for what commits positions, as enable.auto.commit
      commitThoughWoken();
    } catch (RuntimeException e) {
      log.warn("Consumer {} has not committed its last offsets: the records come again", name, e);
    } finally {
      close(consumer);
      condition.stopped();
      ended.countDown();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** A wake-up by {@link #close} ends one call of the client, and not the next. */
  private void commitThoughWoken() {
    try {
      commit();
    } catch (WakeupException e) {
      commit();
    }
  }

  private void close(Consumer<K, V> consumer) {
    try {
      consumer.close();
    } catch (RuntimeException e) {
      log.warn("Kafka's consumer of {} was not closed properly", name, e);
    }
  }

  private final class Membership implements ConsumerRebalanceListener {

    /** There may be no partitions, when others have them all. */
    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      member = true;
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      member = false;
      onPartitionsRevoked(partitions);
    }

    /** Others have these partitions now, or will have them. */
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      for (TopicPartition partition : partitions) {
        handled.remove(partition);
        failures.forget(partition);
      }
    }
  }

  /**
   * Ends {@link #run}: the record that is being handled is finished, what is done is committed to
   * Kafka, and the group is left. Waits for that for 30 s at most, unless the handler itself calls
   * this. Calling it again does no harm.
   */
  @Override
  public void close() {
    closing.countDown();
    if (begun.compareAndSet(false, true)) {
      close(consumer);
      condition.stopped();
      ended.countDown();
      return;
    }
    consumer.wakeup();
    if (Thread.currentThread() == runner) {
      return;
    }
    try {
      if (!ended.await(CLOSE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)) {
        log.warn(
            "Consumer {} has not ended within {}: it ends when its handler returns",
            name,
            Texts.time(CLOSE_TIMEOUT));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "consumer %s of %s".formatted(name, topics);
  }

  /** Not safe for use by many threads. */
  public static final class Builder<T, K, V> {
    private final Consumer<K, V> consumer;
    private final Inbox<T> inbox;
    private final Transactions<T> transactions;
    private @Nullable String name;
    private @Nullable Set<String> topics;
    private @Nullable RecordHandler<T, K, V> handler;
    private Function<ConsumerRecord<K, V>, String> messageId = Builder::idHeader;
    private Duration firstDelay = Duration.ofMillis(100);
    private Duration maxDelay = Duration.ofMinutes(1);
    private int maxTries = Integer.MAX_VALUE;
    private @Nullable DeadLetters<T, K, V> deadLetters;
    private java.util.function.Consumer<ConsumerStatus> listener = status -> {};
    private Duration handlingTime = Duration.ofMinutes(1);

    private Builder(Consumer<K, V> consumer, Inbox<T> inbox, Transactions<T> transactions) {
      this.consumer = requireNonNull(consumer, "consumer");
      this.inbox = requireNonNull(inbox, "inbox");
      this.transactions = requireNonNull(transactions, "transactions");
    }

    /**
     * The consumer in the keys of the inbox ({@link InboxKey#consumer}), and in logs. Needed.
     *
     * @throws dev.outbox.InvalidMessageException as {@link InboxKey}
     */
    public Builder<T, K, V> name(String name) {
      this.name = Texts.name("name", name);
      return this;
    }

    /** What it subscribes to. Needed. */
    public Builder<T, K, V> topics(String... topics) {
      if (topics.length == 0) {
        throw new IllegalArgumentException("topics are missing: give one at least");
      }
      this.topics = Set.of(topics);
      return this;
    }

    /** What it does with a message. Needed. */
    public Builder<T, K, V> handler(RecordHandler<T, K, V> handler) {
      this.handler = requireNonNull(handler, "handler");
      return this;
    }

    /**
     * The id by which a message is known when it arrives again. Default: its header {@value
     * KafkaInboxConsumer#ID_HEADER}; a record without it fails. What this throws is a failure of
     * the record.
     */
    public Builder<T, K, V> messageId(Function<ConsumerRecord<K, V>, String> messageId) {
      this.messageId = requireNonNull(messageId, "messageId");
      return this;
    }

    /**
     * The delay before the second try of a record, doubled for each further one. Default: 100 ms.
     *
     * @param firstDelay at least 1 ms
     */
    public Builder<T, K, V> firstDelay(Duration firstDelay) {
      this.firstDelay = positive("firstDelay", firstDelay);
      return this;
    }

    /**
     * The longest delay between two tries. Default: 1 minute.
     *
     * @param maxDelay at least 1 ms
     */
    public Builder<T, K, V> maxDelay(Duration maxDelay) {
      this.maxDelay = positive("maxDelay", maxDelay);
      return this;
    }

    /**
     * After so many tries a record is a dead letter, and the later ones of its partition go on,
     * also those of its key. Tries are counted since the partition was assigned. A try counts when
     * {@link #messageId} or the handler throws an exception or an {@link Error}, such as a parser's
     * {@link StackOverflowError}.
     *
     * <p>An outage is not the record's fault. So a missing connection, a commit that failed and a
     * {@link dev.outbox.TransientOutboxException} do not count, wherever they are thrown. Nor does
     * an {@code SQLException} that says that a connection is lost or the database has rolled back
     * (SQLState 08, 40 and PostgreSQL's 57P). Nor does any other {@link VirtualMachineError}, such
     * as an {@link OutOfMemoryError}.
     *
     * <p>Default: a record is tried until it succeeds. One that Kafka's deserializers refuse is
     * never given up: let them give bytes, and read those in the handler.
     *
     * @param tries at least 1
     * @param deadLetters where it goes, in a transaction with the inbox
     */
    public Builder<T, K, V> giveUpAfter(int tries, DeadLetters<T, K, V> deadLetters) {
      if (tries < 1) {
        throw new IllegalArgumentException("tries is %s, allowed is 1 and more".formatted(tries));
      }
      this.maxTries = tries;
      this.deadLetters = requireNonNull(deadLetters, "deadLetters");
      return this;
    }

    /**
     * Is told each change of {@link KafkaInboxConsumer#status}, in the thread that runs or closes
     * it. What it throws is logged. Default: nobody is told.
     */
    public Builder<T, K, V> listener(java.util.function.Consumer<ConsumerStatus> listener) {
      this.listener = requireNonNull(listener, "listener");
      return this;
    }

    /**
     * How long records are handled before the next poll; what is left then is fetched again. It has
     * to be below {@code max.poll.interval.ms} (5 minutes unless set), by the time that one record
     * may take: else Kafka takes this consumer for dead. Default: 1 minute.
     *
     * @param handlingTime at least 1 ms
     */
    public Builder<T, K, V> handlingTime(Duration handlingTime) {
      this.handlingTime = positive("handlingTime", handlingTime);
      return this;
    }

    private static String idHeader(ConsumerRecord<?, ?> record) {
      Header header = record.headers().lastHeader(ID_HEADER);
      if (header == null || header.value() == null) {
        throw new IllegalArgumentException(
            "the record at offset %s of partition %s of topic %s has no header %s: give the builder a messageId, which says how a record is known when it arrives again"
                .formatted(record.offset(), record.partition(), record.topic(), ID_HEADER));
      }
      return new String(header.value(), UTF_8);
    }

    private static Duration positive(String what, Duration time) {
      if (time.compareTo(Duration.ofMillis(1)) < 0) {
        throw new IllegalArgumentException(
            "%s is %s, allowed is 1 ms and more".formatted(what, Texts.time(time)));
      }
      return time;
    }

    /**
     * Connects to nothing.
     *
     * @throws IllegalArgumentException naming what is missing, or cannot be
     */
    public KafkaInboxConsumer<T, K, V> build() {
      return new KafkaInboxConsumer<>(
          this, given("name", name), given("topics", topics), given("handler", handler));
    }

    private static <X> X given(String what, @Nullable X value) {
      if (value == null) {
        throw new IllegalArgumentException(
            "%s is missing: call %s of the builder".formatted(what, what));
      }
      return value;
    }
  }
}
