package dev.outbox.publisher.kafka;

import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.TestMessages;
import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Kafka's client may do to a call, played by a producer that does as it is told. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClientTroubleTest {
  /** Nothing waits for the end of it. */
  private static final Timing timing = Timing.of(Duration.ofMinutes(1));

  /** For calls that last until they give up. */
  private static final Timing brief = Timing.of(Duration.ofSeconds(1));

  private static final Exception TOO_LARGE =
      new RecordBatchTooLargeException("larger than the segment");

  private final Queue<FakeProducer> next = new ArrayDeque<>();
  private final List<FakeProducer> made = new ArrayList<>();

  /** By how much the wall clock is ahead of the one that never goes back, in milliseconds. */
  private final AtomicLong lead = new AtomicLong();

  private final WallClock clock = new WallClock(lead::get);
  private final ProducerHolder holder = holder(this::make);
  private final Cluster cluster =
      new Cluster(new ProducerSettings(Map.of("bootstrap.servers", "127.0.0.1:1"), timing), clock);
  private final Records records = RecordsTest.records();
  private volatile FakeProducer single = FakeProducer.ending(null);

  /** Of the producer that is not for single records. */
  private volatile boolean refusesBatches;

  private final KafkaPublisher patient = publisher(timing);
  private final KafkaPublisher impatient = publisher(brief);

  private KafkaPublisher publisher(Timing time) {
    return new KafkaPublisher(
        holder, holder(() -> single), new PublisherParts(cluster, records, time));
  }

  private ProducerHolder holder(Supplier<FakeProducer> maker) {
    return new ProducerHolder(maker, text -> text, clock);
  }

  @AfterEach
  void close() {
    patient.close();
    impatient.close();
    cluster.close();
  }

  private synchronized FakeProducer make() {
    FakeProducer producer =
        next.isEmpty()
            ? new FakeProducer((it, record) -> record.ends(refusesBatches ? TOO_LARGE : null))
            : next.remove();
    made.add(producer);
    return producer;
  }

  private static List<StoredMessage> messages(String... keys) {
    List<StoredMessage> messages = new ArrayList<>();
    for (String key : keys) {
      messages.add(stored(message("t", key)));
    }
    return messages;
  }

  private Place placeOf(StoredMessage message) {
    return Records.place(records.of(message, "t", new FakeProducer().partitions));
  }

  @Test
  @DisplayName("a call gives up in time on all that it may have been given (P5)")
  void givesUpOnVeryMany() throws InterruptedException {
    next.add(new FakeProducer());
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < 60_000; i++) {
      messages.add(stored(message("t", "key" + i)));
    }
    long start = System.nanoTime();
    assertThat(impatient.publish(messages)).hasSize(messages.size());
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
  }

  /** Throws it for a record of the key "bad". */
  private static FakeProducer refusing(Throwable thrown) {
    return new FakeProducer(
        (it, record) -> {
          if (record.key().equals("bad")) {
            ClientTroubleTest.<RuntimeException>sneak(thrown);
          }
          record.ends(null);
        });
  }

  @Test
  @DisplayName("what send throws goes to the caller, and nothing is held up by it afterwards")
  void sendThrows() throws Exception {
    for (Throwable thrown :
        List.of(new IllegalArgumentException("aroundSend's"), new OutOfMemoryError("a test"))) {
      FakeProducer producer = refusing(thrown);
      next.add(producer);
      KafkaPublisher fresh =
          new KafkaPublisher(
              holder(this::make), holder, new PublisherParts(cluster, records, timing));
      List<StoredMessage> messages = messages("good", "bad", "other");
      assertThatThrownBy(() -> fresh.publish(messages)).isSameAs(thrown);
      assertThat(fresh.parts.places().isStuck(placeOf(messages.get(1)))).isFalse();
      assertThat(producer.closed)
          .as("after %s the producer is closed", thrown)
          .isEqualTo(thrown instanceof Error);
      assertThat(fresh.publish(messages("good", "other"))).containsOnly(Result.delivered());
    }
  }

  @Test
  @DisplayName("brokers that DNS does not know yet are waited for; a refused setting is not")
  void unknownHosts() throws Exception {
    List<KafkaException> thrown = new ArrayList<>();
    ProducerHolder waiting =
        holder(
            () -> {
              if (thrown.isEmpty()) {
                return make();
              }
              throw thrown.get(0);
            });
    thrown.add(failedWith("Invalid url in bootstrap.servers: kafka"));
    assertThatThrownBy(() -> waiting.start(timing.timeout()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Invalid url");

    thrown.set(0, failedWith("No resolvable bootstrap urls given in bootstrap.servers"));
    KafkaPublisher publishing =
        new KafkaPublisher(
            waiting, holder(() -> single), new PublisherParts(cluster, records, timing));
    waiting.start(timing.timeout());
    assertThat(publishing.publish(messages("k")).get(0))
        .isInstanceOf(Result.Unavailable.class)
        .extracting(TestMessages::error, STRING)
        .contains("No resolvable bootstrap urls");

    thrown.clear();
    assertThat(publishing.publish(messages("k"))).containsOnly(Result.delivered());
    publishing.close();
  }

  private static KafkaException failedWith(String problem) {
    return new KafkaException("Failed to construct kafka producer", new ConfigException(problem));
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void sneak(Throwable e) throws E {
    throw (E) e;
  }

  @Test
  @DisplayName("a batch that is too large: each record alone, and only the culprit is rejected")
  void batchTooLarge() throws Exception {
    refusesBatches = true;
    single =
        new FakeProducer(
            (it, record) -> record.ends(record.key().equals("large") ? TOO_LARGE : null));
    List<Result> results = patient.publish(messages("a", "large", "a", "b"));
    assertThat(results.get(1)).isInstanceOf(Result.Rejected.class);
    assertThat(List.of(results.get(0), results.get(2), results.get(3)))
        .containsOnly(Result.delivered());
  }

  @Test
  @DisplayName("a topic that gets more partitions in the middle of a call splits no key")
  void morePartitions() throws Exception {
    FakeProducer producer = new FakeProducer((it, record) -> it.partitions = 97);
    producer.partitions = 1;
    next.add(producer);
    List<Result> results = impatient.publish(messages("k", "k", "k", "k"));
    assertThat(results).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(producer.sent.stream().map(s -> s.record().partition()).distinct().toList())
        .as("the partitions of what was in flight at a time")
        .containsExactly(0);
  }

  @Test
  @DisplayName("a full buffer is asked again now and then, not all the time")
  void fullBuffer() throws Exception {
    FakeProducer producer = FakeProducer.ending(new BufferExhaustedException("full"));
    next.add(producer);
    String[] keys = IntStream.range(0, 50).mapToObj(i -> "k" + i).toArray(String[]::new);
    assertThat(impatient.publish(messages(keys))).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(producer.sent)
        .as("what was given to a full buffer in a call of a second")
        .hasSizeLessThan(1_000);
  }

  @Test
  @DisplayName("what found no room goes when there is some, in order")
  void roomAgain() throws Exception {
    List<String> taken = new ArrayList<>();
    next.add(
        new FakeProducer(
            (it, record) -> {
              if (it.sent.size() % 3 != 0) {
                record.ends(new BufferExhaustedException("full"));
              } else {
                taken.add(record.sequence());
                record.ends(null);
              }
            }));
    List<StoredMessage> messages = messages("k", "k", "k", "k");
    assertThat(patient.publish(messages)).containsOnly(Result.delivered());
    assertThat(taken).isEqualTo(messages.stream().map(m -> Long.toString(m.sequence())).toList());
  }

  @Test
  @DisplayName("a callback that comes after its call began the key again does not stop the call")
  void lateCallback() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    FakeProducer first =
        new FakeProducer((it, record) -> both.countDown()) {
          @Override
          public void close(Duration timeout) {
            closed = true;
            sent.peek().ends(new KafkaException("Producer is closed forcefully."));
          }
        };
    next.add(first);
    next.add(new FakeProducer());
    CompletableFuture<List<Result>> results =
        CompletableFuture.supplyAsync(() -> publish(messages("k", "k"), impatient));
    both.await();
    assertThat(holder.get(0).retire()).isTrue();
    assertThat(results.get(1, TimeUnit.MINUTES)).hasOnlyElementsOfType(Result.Unavailable.class);
    first.sent.forEach(s -> s.ends(new KafkaException("Producer is closed forcefully.")));
  }

  private static List<Result> publish(List<StoredMessage> messages, KafkaPublisher by) {
    try {
      return by.publish(messages);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @DisplayName("a callback of a record that send refused with an exception counts nothing")
  void callbackAfterThrow() throws Exception {
    next.add(
        new FakeProducer(
            (it, record) -> {
              if (it.sent.size() == 1) {
                throw new ConfigException("after it was appended");
              }
            }));
    StoredMessage message = stored(message("t", "k"));
    assertThat(impatient.publish(List.of(message))).hasOnlyElementsOfType(Result.Failed.class);
    assertThat(impatient.publish(List.of(message))).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(impatient.parts.places().isStuck(placeOf(message))).isTrue();
    made.get(0).sent.peek().ends(new ConfigException("that of the first try"));
    assertThat(impatient.parts.places().isStuck(placeOf(message)))
        .as("the second try is still on its way")
        .isTrue();
    assertThat(impatient.publish(List.of(message)).get(0))
        .isInstanceOf(Result.Unavailable.class)
        .extracting(TestMessages::error, STRING)
        .contains("earlier records are still on their way");
    assertThat(made.get(0).sent).as("what was sent meanwhile").hasSize(2);
  }

  @Test
  @DisplayName("what is acknowledged after its call gave up on it is not sent again")
  void lateAcknowledgement() throws Exception {
    next.add(new FakeProducer());
    List<StoredMessage> messages = messages("k", "k", "other");
    assertThat(impatient.publish(messages)).hasOnlyElementsOfType(Result.Unavailable.class);
    BlockingQueue<FakeProducer.Sent> sent = made.get(0).sent;
    assertThat(sent).hasSize(3);
    sent.forEach(one -> one.ends(one.key().equals("k") ? null : new TimeoutException("a test")));
    CompletableFuture<List<Result>> again =
        CompletableFuture.supplyAsync(() -> publish(messages, impatient));
    await().until(() -> made.get(0).sent.size() == 4 || made.size() == 2);
    assertThat(again.get(1, TimeUnit.MINUTES).subList(0, 2)).containsOnly(Result.delivered());
    assertThat(made.stream().flatMap(one -> one.sent.stream()).map(FakeProducer.Sent::key))
        .containsExactly("k", "k", "other", "other");
  }

  @Test
  @DisplayName("a producer that acknowledged nothing for a delivery timeout is replaced")
  void silentProducer() throws Exception {
    FakeProducer silent = FakeProducer.ending(new TimeoutException("Expiring 1 record(s)"));
    next.add(silent);
    assertThat(patient.publish(messages("k"))).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(silent.closed).isTrue();
    assertThat(patient.publish(messages("k"))).containsOnly(Result.delivered());
  }

  @Test
  @DisplayName("a producer that is in an error state is replaced, and blames no message")
  void errorState() throws Exception {
    KafkaException why = new KafkaException("Unexpected error in InitProducerIdResponse");
    FakeProducer failed =
        new FakeProducer(
            (it, record) -> {
              throw new KafkaException("Cannot execute, because we are in an error state", why);
            });
    next.add(failed);
    assertThat(patient.publish(messages("a", "b"))).hasOnlyElementsOfType(Result.Unavailable.class);
    assertThat(failed.closed).isTrue();
    assertThat(patient.publish(messages("a", "b"))).containsOnly(Result.delivered());
  }

  @ParameterizedTest(name = "alone: {0}")
  @ValueSource(booleans = {false, true})
  @DisplayName("a producer whose thread has died of an error is replaced")
  void deadThread(boolean alone) throws Exception {
    FakeProducer dead =
        new FakeProducer() {
          @Override
          public void close(Duration timeout) {
            closed = true; // and nothing that it was given ends
            single = FakeProducer.ending(null);
          }
        };
    if (alone) {
      single = dead;
      refusesBatches = true;
    } else {
      next.add(dead);
    }
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> impatient.publish(messages("k")).equals(List.of(Result.delivered())));
    await().until(() -> dead.closed);
  }

  @Test
  @DisplayName("a producer that takes long to make holds up a call no longer than its timeout")
  void slowMaking() throws Exception {
    CountDownLatch found = new CountDownLatch(1);
    KafkaPublisher slow =
        new KafkaPublisher(
            holder(
                () -> {
                  try {
                    found.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  return make();
                }),
            holder,
            new PublisherParts(cluster, records, brief));
    assertThat(slow.publish(messages("k")).get(0))
        .isInstanceOf(Result.Unavailable.class)
        .extracting(TestMessages::error, STRING)
        .contains("not made in time", "bootstrap.servers");
    found.countDown();
    assertThat(slow.publish(messages("k"))).containsOnly(Result.delivered());
    slow.close();
  }

  @Test
  @DisplayName("what one producer has not ended is not passed by what another one is given")
  void acrossProducers() throws Exception {
    CompletableFuture<Connection> ends = new CompletableFuture<>();
    FakeProducer first =
        new FakeProducer(
            (it, record) -> {
              if (it.sent.size() > 1) {
                record.ends(new BufferExhaustedException("full"));
                boolean ignored = ends.join().retire(); // before the call gives it another one
              }
            }) {
          @Override
          public void close(Duration timeout) {
            closed = true; // its sending thread is slow to notice
          }
        };
    CountDownLatch asked = new CountDownLatch(1);
    FakeProducer second =
        new FakeProducer((it, record) -> record.ends(null)) {
          @Override
          public List<PartitionInfo> partitionsFor(String topic) {
            asked.countDown();
            return super.partitionsFor(topic);
          }
        };
    next.add(first);
    next.add(second);
    ends.complete(holder.get(TimeUnit.MINUTES.toNanos(1)));
    List<StoredMessage> messages = messages("k", "k");
    CompletableFuture<List<Result>> results =
        CompletableFuture.supplyAsync(() -> publish(messages, patient));
    asked.await();
    assertThat(second.sent.poll(200, TimeUnit.MILLISECONDS)).as("what passes it").isNull();
    first.sent.peek().ends(new KafkaException("Producer is closed forcefully."));
    assertThat(results.get(1, TimeUnit.MINUTES)).containsOnly(Result.delivered());
    assertThat(second.sent.stream().map(FakeProducer.Sent::sequence).toList())
        .isEqualTo(messages.stream().map(m -> Long.toString(m.sequence())).toList());
  }

  @Test
  @DisplayName("when the wall clock goes back, producers are replaced, also within a call")
  void clockGoesBack() throws Exception {
    lead.set(TimeUnit.HOURS.toMillis(1));
    FakeProducer waits = new FakeProducer();
    next.add(waits);
    CompletableFuture<List<Result>> results =
        CompletableFuture.supplyAsync(() -> publish(messages("k", "k"), patient));
    await().until(() -> waits.sent.size() == 2);
    lead.addAndGet(-WallClock.TOLERANCE);
    assertThat(holder.get(0).producer()).as("after a small step").isSameAs(waits);
    lead.set(0);
    assertThat(results.get(1, TimeUnit.MINUTES)).containsOnly(Result.delivered());
    assertThat(waits.closed).isTrue();
    assertThat(made).hasSize(2);
    lead.set(TimeUnit.HOURS.toMillis(1));
    assertThat(patient.publish(messages("k"))).containsOnly(Result.delivered());
    assertThat(made).as("producers, after a step ahead").hasSize(2);
  }
}
