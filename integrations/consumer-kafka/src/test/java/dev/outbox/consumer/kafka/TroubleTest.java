package dev.outbox.consumer.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.TransientOutboxException;
import dev.outbox.consumer.kafka.ConsumerStatus.State;
import dev.outbox.store.memory.MemoryInboxStore;
import dev.outbox.store.memory.MemoryTransaction;
import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
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
import org.apache.kafka.common.errors.RecordDeserializationException.DeserializationExceptionOrigin;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What Kafka's client says when something is wrong: said by one that does nothing else. */
@DisplayName("A consumer of Kafka in trouble")
@Timeout(60) // one that does not end is interrupted, and ends
class TroubleTest {
  private static final TopicPartition PARTITION = new TopicPartition("order", 0);

  private final Refusing kafka = new Refusing();
  private final MemoryInboxStore inbox = new MemoryInboxStore();
  private final List<String> effects = new ArrayList<>();
  private final List<Throwable> letters = new ArrayList<>();
  private final KafkaInboxConsumer<?, ?, ?> consumer = builder().build();

  /** Handles a record by its effect, unless told otherwise. */
  private KafkaInboxConsumer.Builder<MemoryTransaction, String, String> builder() {
    return builder(inbox.database()::inTransaction);
  }

  private KafkaInboxConsumer.Builder<MemoryTransaction, String, String> builder(
      Transactions<MemoryTransaction> transactions) {
    return KafkaInboxConsumer.builder(kafka, inbox, transactions)
        .name("shipping")
        .topics("order")
        .firstDelay(Duration.ofMillis(1))
        .handler((transaction, record) -> effects.add(record.value()));
  }

  private static final class Refusing extends MockConsumer<String, String> {
    final Deque<RuntimeException> refusals = new ArrayDeque<>();
    final List<Long> commits = new ArrayList<>();
    final List<Duration> timeouts = new ArrayList<>();
    final List<Long> positions = new ArrayList<>();
    final Deque<Error> pauses = new ArrayDeque<>();
    final Deque<Error> commitErrors = new ArrayDeque<>();
    Runnable committed = () -> {};
    Runnable closing = () -> {};
    private int records;

    Refusing() {
      super("earliest");
      updateBeginningOffsets(Map.of(PARTITION, 0L));
    }

    @Override
    public synchronized void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets) {
      commits.add(offsets.get(PARTITION).offset());
      if (!refusals.isEmpty()) {
        throw refusals.remove();
      }
      if (!commitErrors.isEmpty()) {
        throw commitErrors.remove();
      }
      super.commitSync(offsets);
      committed.run();
    }

    @Override
    public synchronized void commitSync(
        Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
      timeouts.add(timeout);
      super.commitSync(offsets, timeout);
    }

    @Override
    public synchronized ConsumerRecords<String, String> poll(Duration timeout) {
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptException("poll"); // as Kafka's own
      }
      return super.poll(timeout);
    }

    @Override
    public synchronized void pause(Collection<TopicPartition> partitions) {
      if (!pauses.isEmpty()) {
        throw pauses.remove();
      }
      super.pause(partitions);
    }

    @Override
    public synchronized void seek(TopicPartition partition, long offset) {
      positions.add(offset);
      super.seek(partition, offset);
      addFrom(offset); // which a mock forgets when they are polled
    }

    private void addFrom(long offset) {
      for (long i = offset; i < records; i++) {
        addRecord(record(i));
      }
    }

    void assigned(int records) {
      this.records = records;
      schedulePollTask(
          () -> {
            rebalance(List.of(PARTITION));
            addFrom(0);
          });
    }
  }

  private static ConsumerRecord<String, String> record(long offset) {
    ConsumerRecord<String, String> record =
        new ConsumerRecord<>("order", 0, offset, "key", "m-" + offset);
    record.headers().add(KafkaInboxConsumer.ID_HEADER, ("m-" + offset).getBytes(UTF_8));
    return record;
  }

  /** In this thread: each poll runs one of the scheduled tasks. */
  private void runToTheEnd() {
    kafka.schedulePollTask(consumer::close);
    consumer.run();
    assertThat(kafka.closed()).isTrue();
  }

  @Test
  @DisplayName("commits with the next poll what could not be committed")
  void later() {
    kafka.refusals.add(new TimeoutException("no coordinator"));
    kafka.refusals.add(new RebalanceInProgressException("wait"));
    kafka.assigned(2);
    kafka.schedulePollTask(() -> {});
    kafka.schedulePollTask(() -> {});
    runToTheEnd();
    assertThat(effects).containsExactly("m-0", "m-1");
    assertThat(kafka.commits).containsExactly(2L, 2L, 2L);
  }

  @Test
  @DisplayName("commits nothing of partitions that it has lost")
  void lost() {
    kafka.refusals.add(new CommitFailedException());
    kafka.assigned(2);
    kafka.schedulePollTask(() -> {});
    runToTheEnd();
    assertThat(kafka.commits).containsExactly(2L);
  }

  @Test
  @DisplayName("commits nothing of partitions that were revoked")
  void revoked() {
    kafka.refusals.add(new TimeoutException("no coordinator"));
    kafka.assigned(2);
    kafka.schedulePollTask(() -> kafka.rebalance(List.of()));
    kafka.schedulePollTask(() -> {});
    runToTheEnd();
    assertThat(kafka.commits).containsExactly(2L);
  }

  @Test
  @DisplayName("waits at a record that Kafka's deserializers refuse")
  void unreadable() {
    kafka.assigned(0);
    kafka.schedulePollTask(
        () ->
            kafka.setPollException(
                new RecordDeserializationException(
                    DeserializationExceptionOrigin.VALUE,
                    PARTITION,
                    7,
                    0,
                    TimestampType.CREATE_TIME,
                    null,
                    null,
                    new RecordHeaders(),
                    "not a number",
                    new IllegalStateException())));
    runToTheEnd();
    assertThat(kafka.positions).as("and stays there").endsWith(7L);
    assertThat(kafka.commits).isEmpty();
  }

  @Test
  @DisplayName("gives no record up because the database is away, or the memory used up")
  void outage() {
    Deque<Exception> outage =
        new ArrayDeque<>(
            List.of(
                new SQLException("no connection"),
                new SQLException("refused", "08001"),
                new IllegalStateException("no connection")));
    Deque<Throwable> inHandler =
        new ArrayDeque<>(
            List.of(
                new TransientOutboxException("wait"),
                new IllegalStateException(new SQLException("deadlock", "40P01")),
                new IllegalStateException(new SQLTransientConnectionException("pool is empty")),
                new OutOfMemoryError("Java heap space"),
                new InternalError("a disk's fault")));
    Transactions<MemoryTransaction> transactions =
        work -> {
          if (!outage.isEmpty()) {
            throw outage.remove();
          }
          inbox.database().inTransaction(work);
        };
    run(
        transactions,
        (transaction, record) -> {
          if (inHandler.peek() instanceof Error) {
            throw (Error) inHandler.remove();
          } else if (!inHandler.isEmpty()) {
            throw (Exception) inHandler.remove();
          }
          effects.add(record.value());
        });
    assertThat(letters).isEmpty();
    assertThat(effects).containsExactly("m-0");
    assertThat(outage).isEmpty();
    assertThat(inHandler).isEmpty();
  }

  @Test
  @DisplayName("gives a record up for what the handler threw, whatever it was wrapped in")
  void wrapped() {
    IOException why = new IOException("out of boxes");
    run(
        this::wrapping,
        (transaction, record) -> {
          throw why;
        });
    assertThat(letters).containsExactly(why);
  }

  @Test
  @DisplayName("ends when its handler is interrupted, whatever that was wrapped in")
  void interrupted() {
    run(
        this::wrapping,
        (transaction, record) -> {
          throw new InterruptedException();
        });
    assertThat(Thread.interrupted()).isTrue();
    assertThat(letters).isEmpty();
  }

  private void wrapping(java.util.function.Consumer<MemoryTransaction> work) {
    try {
      inbox.database().inTransaction(work);
    } catch (RuntimeException e) {
      throw new IllegalStateException("rolled back", e);
    }
  }

  /** Until the first record is done, one way or the other. */
  private void run(
      Transactions<MemoryTransaction> transactions,
      RecordHandler<MemoryTransaction, String, String> handler) {
    kafka.assigned(1);
    KafkaInboxConsumer<?, ?, ?> trying =
        builder(transactions)
            .maxDelay(Duration.ofMillis(1))
            .handler(handler)
            .giveUpAfter(1, (transaction, record, why) -> letters.add(why))
            .build();
    kafka.committed = trying::close;
    trying.run();
  }

  /** What a parser of nested documents does with one of a million brackets. */
  private static int nest(int depth) {
    return depth < 0 ? depth : nest(depth + 1) + 1;
  }

  static List<RecordHandler<MemoryTransaction, String, String>> errorOfRecord() {
    return List.of(
        (transaction, record) -> nest(0),
        (transaction, record) -> {
          throw new NoClassDefFoundError("com/example/Order");
        });
  }

  @ParameterizedTest
  @MethodSource
  @DisplayName("gives a record up for an Error that its handler threw")
  void errorOfRecord(RecordHandler<MemoryTransaction, String, String> handler) {
    kafka.assigned(2);
    kafka.schedulePollTask(() -> {});
    KafkaInboxConsumer<?, ?, ?> trying =
        builder()
            .handler(
                (transaction, record) -> {
                  if (record.offset() == 0) {
                    handler.handle(transaction, record);
                  }
                  effects.add(record.value());
                })
            .giveUpAfter(2, (transaction, record, why) -> letters.add(why))
            .build();
    kafka.committed = () -> closeBehind(trying, kafka, 2);
    trying.run();
    assertThat(letters)
        .singleElement()
        .isInstanceOfAny(StackOverflowError.class, NoClassDefFoundError.class);
    assertThat(effects).as("the record behind it").containsExactly("m-1");
  }

  private static void closeBehind(
      KafkaInboxConsumer<?, ?, ?> consumer, Refusing kafka, long offset) {
    if (kafka.commits.contains(offset)) {
      consumer.close();
    }
  }

  @Test
  @DisplayName(
      "gives a record up for an Error of what says its id, and of the dead letters tries again")
  void errorsAround() {
    Deque<Error> ofLetters = new ArrayDeque<>(List.of(new StackOverflowError()));
    kafka.assigned(1);
    StackOverflowError ofId = new StackOverflowError("of the id");
    KafkaInboxConsumer<?, ?, ?> trying =
        builder()
            .messageId(
                record -> {
                  throw ofId;
                })
            .giveUpAfter(
                1,
                (transaction, record, why) -> {
                  if (!ofLetters.isEmpty()) {
                    throw ofLetters.remove();
                  }
                  letters.add(why);
                })
            .build();
    kafka.committed = trying::close;
    trying.run();
    assertThat(letters).containsExactly(ofId);
    assertThat(effects).isEmpty();
  }

  @Test
  @DisplayName("goes on after an Error in between, and leaves no record out")
  void errorInBetween() {
    kafka.assigned(3);
    kafka.pauses.add(new OutOfMemoryError("no memory to pause"));
    kafka.commitErrors.add(new OutOfMemoryError("no memory to commit"));
    List<Long> failing = new ArrayList<>(List.of(1L));
    List<State> states = new ArrayList<>();
    KafkaInboxConsumer<?, ?, ?> trying =
        builder()
            .listener(status -> states.add(status.state()))
            .handler(
                (transaction, record) -> {
                  if (failing.remove(record.offset())) {
                    throw new IOException("out of boxes");
                  }
                  effects.add(record.value());
                })
            .build();
    kafka.committed = () -> closeBehind(trying, kafka, 3);
    trying.run();
    assertThat(effects).containsExactly("m-0", "m-1", "m-2");
    assertThat(kafka.positions).as("also before the next poll").containsSequence(1L, 1L);
    assertThat(states).containsExactly(State.WAITING, State.RUNNING, State.STOPPED);
  }

  @Test
  @DisplayName("ends by an Error of Kafka's client itself, and is not beyond what it has handled")
  void errorOfClient() {
    kafka.assigned(1);
    kafka.schedulePollTask(
        () -> {
          throw new StackOverflowError("of a deserializer");
        });
    assertThatThrownBy(consumer::run).isInstanceOf(StackOverflowError.class);
    assertThat(kafka.closed()).isTrue();
    assertThat(kafka.commits).containsExactly(1L);
    assertThat(consumer.status())
        .returns(State.FAILED, ConsumerStatus::state)
        .matches(status -> status.error() instanceof StackOverflowError);
  }

  @Test
  @DisplayName("that is closed has half of the time for its last commit")
  void lastCommit() {
    kafka.assigned(2);
    KafkaInboxConsumer<?, ?, ?> closing =
        builder().handler((transaction, record) -> kafka.closing.run()).build();
    kafka.closing = closing::close;
    closing.run();
    assertThat(kafka.commits).containsExactly(1L);
    assertThat(kafka.timeouts).containsExactly(Duration.ofSeconds(15));
  }

  @ParameterizedTest
  @MethodSource
  @DisplayName("waits for what may pass, says so once, and goes on")
  void passing(RuntimeException trouble) {
    List<ConsumerStatus> told = new ArrayList<>();
    KafkaInboxConsumer<?, ?, ?> waiting = builder().listener(told::add).build();
    assertThat(waiting.status().state()).isEqualTo(State.STARTING);
    for (int i = 0; i < 5; i++) {
      kafka.schedulePollTask(() -> kafka.setPollException((KafkaException) trouble));
    }
    kafka.assigned(2);
    kafka.refusals.add(trouble);
    kafka.committed = waiting::close;
    waiting.run();
    assertThat(effects).containsExactly("m-0", "m-1");
    assertThat(kafka.commits).as("once in vain").containsExactly(2L, 2L);
    assertThat(told)
        .map(ConsumerStatus::state)
        .containsExactly(State.WAITING, State.RUNNING, State.STOPPED);
    assertThat(told.get(0).error()).isSameAs(trouble);
    assertThat(told.get(2)).isEqualTo(waiting.status());
  }

  static List<RuntimeException> passing() {
    return List.of(
        new TopicAuthorizationException("order"),
        new GroupAuthorizationException("shipping"),
        new SaslAuthenticationException("wrong password"),
        new TimeoutException("no leader"),
        new KafkaException("Received exception when fetching the next record from order-0"));
  }

  @ParameterizedTest
  @MethodSource
  @DisplayName("ends with what trying again cannot help, and closes Kafka's client")
  void lasting(RuntimeException trouble) {
    List<ConsumerStatus> told = new ArrayList<>();
    KafkaInboxConsumer<?, ?, ?> ending = builder().listener(told::add).build();
    kafka.schedulePollTask(
        () -> {
          throw trouble;
        });
    assertThatThrownBy(ending::run).isSameAs(trouble);
    assertThat(kafka.closed()).isTrue();
    assertThat(told).containsExactly(ending.status());
    assertThat(ending.status().state()).isEqualTo(State.FAILED);
    assertThat(ending.status().error()).isSameAs(trouble);
    assertThatThrownBy(ending::run)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("consumer shipping was run before: build another");
    ending.close();
    assertThat(ending.status().state()).isEqualTo(State.FAILED);
  }

  static List<RuntimeException> lasting() {
    return List.of(
        new InvalidTopicException("a topic"),
        new InvalidGroupIdException(""),
        new NoOffsetForPartitionException(PARTITION),
        new FencedInstanceIdException("another one"),
        new UnsupportedVersionException("too old"),
        new IllegalStateException("the consumer is closed"));
  }

  @Test
  @DisplayName("that waits is closed at once")
  void closedWhileItWaits() {
    KafkaInboxConsumer<?, ?, ?> waiting =
        builder().firstDelay(Duration.ofDays(1)).maxDelay(Duration.ofDays(1)).build();
    kafka.setPollException(new TopicAuthorizationException("order"));
    Thread thread = new Thread(waiting, "test-waiting");
    thread.start();
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    waiting.close();
    assertThat(kafka.closed()).isTrue();
    assertThat(waiting.status().state()).isEqualTo(State.STOPPED);
  }

  @Test
  @DisplayName("is not running before it is in its group, nor disturbed by its listener")
  void starting() {
    List<State> states = new ArrayList<>();
    KafkaInboxConsumer<?, ?, ?> starting =
        builder()
            .listener(
                status -> {
                  states.add(status.state());
                  throw new IllegalStateException("a listener's");
                })
            .build();
    for (int i = 0; i < 2; i++) {
      kafka.schedulePollTask(() -> assertThat(starting.status().state()).isEqualTo(State.STARTING));
    }
    kafka.assigned(1);
    kafka.schedulePollTask(starting::close);
    starting.run();
    assertThat(effects).containsExactly("m-0");
    assertThat(states).containsExactly(State.RUNNING, State.STOPPED);
  }

  @Test
  @DisplayName("that is closed before it runs, does not")
  void closedBefore() {
    consumer.close();
    consumer.close();
    assertThat(kafka.closed()).isTrue();
    consumer.run();
  }

  @Test
  @DisplayName("is not built of what cannot be")
  void refused() {
    assertThatThrownBy(
            () ->
                KafkaInboxConsumer.builder(kafka, inbox, inbox.database()::inTransaction)
                    .name("shipping")
                    .topics("order")
                    .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("handler is missing: call handler of the builder");
    assertThatThrownBy(() -> builder().maxDelay(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxDelay is 0s, allowed is 1 ms and more");
    assertThatThrownBy(() -> builder().giveUpAfter(0, (transaction, record, why) -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tries is 0, allowed is 1 and more");
    assertThatThrownBy(() -> builder().topics())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("topics are missing: give one at least");
  }

  @Test
  @DisplayName("doubles the delays between tries, up to the longest")
  void delays() {
    Failures failures = new Failures(Duration.ofMillis(100), Duration.ofSeconds(1));
    List<Long> delays = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      delays.add(failures.add(PARTITION, 7, false).delay().toMillis());
    }
    assertThat(delays).containsExactly(100L, 200L, 400L, 800L, 1000L, 1000L);
    assertThat(failures.add(PARTITION, 8, true).delay()).isEqualTo(Duration.ofMillis(100));
    assertThat(failures.untilNext(Duration.ofHours(1))).isLessThan(Duration.ofSeconds(1));
    failures.forget(PARTITION);
    assertThat(failures.untilNext(Duration.ofHours(1))).isEqualTo(Duration.ofHours(1));
  }
}
