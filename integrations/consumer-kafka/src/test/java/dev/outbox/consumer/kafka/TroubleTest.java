package dev.outbox.consumer.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.TransientOutboxException;
import dev.outbox.store.memory.MemoryInboxStore;
import dev.outbox.store.memory.MemoryTransaction;
import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.RecordDeserializationException.DeserializationExceptionOrigin;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What Kafka's client says when something is wrong: said by one that does nothing else. */
@DisplayName("A consumer of Kafka in trouble")
class TroubleTest {
  private static final TopicPartition PARTITION = new TopicPartition("order", 0);

  private final Refusing kafka = new Refusing();
  private final MemoryInboxStore inbox = new MemoryInboxStore();
  private final List<String> effects = new ArrayList<>();
  private final KafkaInboxConsumer<MemoryTransaction, String, String> consumer =
      builder().handler((transaction, record) -> effects.add(record.value())).build();

  private KafkaInboxConsumer.Builder<MemoryTransaction, String, String> builder() {
    return KafkaInboxConsumer.builder(kafka, inbox, inbox.database()::inTransaction)
        .name("shipping")
        .topics("order")
        .firstDelay(Duration.ofMillis(1));
  }

  private static final class Refusing extends MockConsumer<String, String> {
    final Deque<RuntimeException> refusals = new ArrayDeque<>();
    final List<Long> commits = new ArrayList<>();
    final List<Duration> timeouts = new ArrayList<>();
    final List<Long> positions = new ArrayList<>();
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
  @DisplayName("gives no record up because the database is away")
  void outage() {
    Deque<Exception> outage =
        new ArrayDeque<>(
            List.of(
                new SQLException("no connection"),
                new SQLException("refused", "08001"),
                new IllegalStateException("no connection")));
    Deque<RuntimeException> inHandler =
        new ArrayDeque<>(
            List.of(
                new TransientOutboxException("wait"),
                new IllegalStateException(new SQLException("deadlock", "40P01")),
                new IllegalStateException(new SQLTransientConnectionException("pool is empty"))));
    List<Exception> letters = new ArrayList<>();
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
          if (!inHandler.isEmpty()) {
            throw inHandler.remove();
          }
          effects.add(record.value());
        },
        (transaction, record, why) -> letters.add(why));
    assertThat(letters).isEmpty();
    assertThat(effects).containsExactly("m-0");
    assertThat(outage).isEmpty();
    assertThat(inHandler).isEmpty();
  }

  @Test
  @DisplayName("gives a record up for what the handler threw, whatever it was wrapped in")
  void wrapped() {
    List<Exception> letters = new ArrayList<>();
    IOException why = new IOException("out of boxes");
    run(
        this::wrapping,
        (transaction, record) -> {
          throw why;
        },
        (transaction, record, reason) -> letters.add(reason));
    assertThat(letters).containsExactly(why);
  }

  @Test
  @DisplayName("ends when its handler is interrupted, whatever that was wrapped in")
  void interrupted() {
    List<Exception> letters = new ArrayList<>();
    run(
        this::wrapping,
        (transaction, record) -> {
          throw new InterruptedException();
        },
        (transaction, record, why) -> letters.add(why));
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
      RecordHandler<MemoryTransaction, String, String> handler,
      DeadLetters<MemoryTransaction, String, String> letters) {
    kafka.assigned(1);
    KafkaInboxConsumer<MemoryTransaction, String, String> trying =
        KafkaInboxConsumer.builder(kafka, inbox, transactions)
            .name("shipping")
            .topics("order")
            .firstDelay(Duration.ofMillis(1))
            .maxDelay(Duration.ofMillis(1))
            .handler(handler)
            .giveUpAfter(1, letters)
            .build();
    kafka.committed = trying::close;
    trying.run();
  }

  @Test
  @DisplayName("that ends by an Error is not beyond what it has not handled")
  void error() {
    kafka.assigned(3);
    AssertionError error = new AssertionError("out of memory, say");
    assertThatThrownBy(
            builder()
                    .handler(
                        (transaction, record) -> {
                          if (record.offset() == 1) {
                            throw error;
                          }
                        })
                    .build()
                ::run)
        .isSameAs(error);
    assertThat(kafka.positions).as("for a commit of positions").endsWith(1L);
    assertThat(kafka.commits).containsExactly(1L);
  }

  @Test
  @DisplayName("that is closed has half of the time for its last commit")
  void lastCommit() {
    kafka.assigned(2);
    KafkaInboxConsumer<MemoryTransaction, String, String> closing =
        builder()
            .handler((transaction, record) -> kafka.closing.run())
            .closeTimeout(Duration.ofSeconds(10))
            .build();
    kafka.closing = closing::close;
    closing.run();
    assertThat(kafka.commits).containsExactly(1L);
    assertThat(kafka.timeouts).containsExactly(Duration.ofSeconds(5));
  }

  @Test
  @DisplayName("ends with what trying again cannot help, and closes Kafka's client")
  void fatal() {
    kafka.setPollException(new TopicAuthorizationException("order"));
    assertThatThrownBy(consumer::run).isInstanceOf(TopicAuthorizationException.class);
    assertThat(kafka.closed()).isTrue();
    assertThatThrownBy(consumer::run)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("consumer shipping was run before: build another");
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
    assertThatThrownBy(() -> builder().build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("handler is missing: call handler of the builder");
    assertThatThrownBy(() -> builder().maxDelay(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("maxDelay is PT0S, allowed is 1 ms and more");
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
