package dev.outbox.consumer.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.consumer.kafka.ConsumerStatus.State;
import dev.outbox.embedded.ChildJvm;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** On a real broker and a real database. */
@DisplayName("A consumer of Kafka with an inbox")
class KafkaInboxConsumerTest {
  private final String group = "shipping-" + UUID.randomUUID();
  private final String topic = Servers.topic();
  private final List<KafkaInboxConsumer<?, ?, ?>> running = new ArrayList<>();
  private Map<String, String> schema;
  private Effects effects;

  @BeforeEach
  void migrate() throws Exception {
    schema = Servers.schema();
    effects = Effects.migrated(schema);
  }

  @AfterEach
  void stop() {
    running.forEach(KafkaInboxConsumer::close);
    effects.close();
  }

  private KafkaInboxConsumer.Builder<Connection, String, String> builder() {
    return effects
        .consumer(Servers.consumer(group), topic)
        .firstDelay(Duration.ofMillis(1))
        .maxDelay(Duration.ofMillis(50));
  }

  private <T, K, V> KafkaInboxConsumer<T, K, V> start(KafkaInboxConsumer<T, K, V> consumer) {
    running.add(consumer);
    new Thread(consumer, "test-" + running.size()).start();
    return consumer;
  }

  private static List<String> ids(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
  }

  private static void eventually(ThrowingRunnable assertion) {
    await().atMost(Duration.ofMinutes(1)).untilAsserted(assertion);
  }

  private void awaitEffects(int partition, List<String> ids) {
    eventually(() -> assertThat(effects.ids(partition)).containsExactlyElementsOf(ids));
  }

  @Test
  @DisplayName("handles a message that arrives twice once, and in its partition's order")
  void once() throws Exception {
    List<String> a = ids("a", 50);
    List<String> b = ids("b", 50);
    Servers.send(topic, 0, a);
    Servers.send(topic, 0, a);
    Servers.send(topic, 1, b);
    Servers.send(topic, 1, a);
    start(builder().build());
    Servers.send(topic, 1, List.of("last"));
    eventually(() -> assertThat(effects.ids()).contains("last"));
    awaitCommitted(Map.of(0, 100L, 1, 101L));
    assertThat(effects.ids()).doesNotHaveDuplicates().hasSize(101);
    assertThat(effects.ids().stream().filter(id -> id.startsWith("b")))
        .containsExactlyElementsOf(b);
  }

  /** What another consumer of the group would go on with. */
  private void awaitCommitted(Map<Integer, Long> offsets) {
    try (Admin admin = Servers.admin()) {
      eventually(
          () -> {
            Map<Integer, Long> committed = new HashMap<>();
            admin
                .listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get()
                .forEach((partition, at) -> committed.put(partition.partition(), at.offset()));
            assertThat(committed).isEqualTo(offsets);
          });
    }
  }

  @Test
  @DisplayName("that is killed between its commits leaves records that come again without effect")
  void killed() throws Exception {
    List<String> ids = ids("m", 20);
    Servers.send(topic, 0, ids);
    Map<String, String> settings = new HashMap<>(schema);
    settings.putAll(
        Map.of("bootstrap", Servers.bootstrapServers(), "group", group, "topic", topic));
    try (ChildJvm child = ChildJvm.start(KilledConsumer.class, settings)) {
      child.await("about to commit");
    } // which kills it
    List<String> before = effects.ids();
    assertThat(before).isNotEmpty();

    Set<String> seen = ConcurrentHashMap.newKeySet();
    start(
        builder()
            .messageId(
                record -> {
                  seen.add(record.value());
                  return record.value();
                })
            .build());
    awaitCommitted(Map.of(0, 20L));
    assertThat(seen).as("what came again").containsAll(before);
    assertThat(effects.ids()).containsExactlyElementsOf(ids);
  }

  @Test
  @DisplayName("holds up the partition of a record that fails, and no other")
  void failing() throws Exception {
    Set<String> broken = ConcurrentHashMap.newKeySet();
    broken.add("a3");
    AtomicInteger tries = new AtomicInteger();
    start(
        builder()
            .handler(
                (connection, record) -> {
                  Effects.add(connection, record);
                  if (broken.contains(record.value())) {
                    tries.incrementAndGet();
                    throw new Exception("out of boxes"); // what is done is rolled back
                  }
                })
            .build());
    Servers.send(topic, 0, ids("a", 10));
    Servers.send(topic, 1, ids("b", 10));
    awaitEffects(1, ids("b", 10));
    eventually(() -> assertThat(tries).hasValueGreaterThan(3));
    awaitEffects(0, ids("a", 3));
    Servers.send(topic, 1, ids("c", 10)); // and still goes on
    eventually(() -> assertThat(effects.ids(1)).hasSize(20));
    assertThat(effects.ids(0)).hasSize(3);
    awaitCommitted(Map.of(0, 3L, 1, 20L));
    broken.clear();
    awaitEffects(0, ids("a", 10));
  }

  @Test
  @DisplayName("gives a record up after so many tries, where it is told to")
  void givenUp() throws Exception {
    Map<String, Integer> tries = new ConcurrentHashMap<>();
    start(
        builder()
            .handler(
                (connection, record) -> {
                  tries.merge(record.value(), 1, Integer::sum);
                  if (record.value().equals("a1")) {
                    throw new IllegalStateException("out of boxes");
                  }
                  Effects.add(connection, record);
                })
            .giveUpAfter(3, Effects::letter)
            .build());
    Servers.send(topic, 0, List.of("a0", "a1", "a2", "a1", "a3"));
    awaitEffects(0, List.of("a0", "a2", "a3"));
    awaitCommitted(Map.of(0, 5L));
    assertThat(effects.letters()).containsExactly("a1: out of boxes");
    assertThat(tries).as("the second a1 is known").containsEntry("a1", 3).containsEntry("a2", 1);
  }

  @Test
  @DisplayName("loses no record whose handler catches what a statement throws")
  void caught() throws Exception {
    start(
        builder()
            .handler(
                (connection, record) -> {
                  Effects.add(connection, record);
                  if (record.value().equals("a1")) {
                    try (Statement statement = connection.createStatement()) {
                      statement.execute("select 1 / 0"); // from here on a commit rolls back
                    } catch (SQLException e) {
                      // and says nothing
                    }
                  }
                })
            .giveUpAfter(2, Effects::letter)
            .build());
    Servers.send(topic, 0, List.of("a0", "a1", "a2"));
    awaitEffects(0, List.of("a0", "a2"));
    assertThat(effects.letters())
        .singleElement()
        .asString()
        .startsWith("a1: a statement of the transaction has failed");
  }

  @Test
  @DisplayName("tells where the record is that has no id")
  void withoutId() throws Exception {
    List<String> ids = new ArrayList<>();
    ids.add("a0");
    ids.add(null);
    ids.add("a1");
    start(builder().giveUpAfter(2, Effects::letter).build());
    Servers.send(topic, 2, ids);
    awaitEffects(2, List.of("a0", "a1"));
    assertThat(effects.letters())
        .containsExactly(
            "no id: the record at offset 1 of partition 2 of topic %s has no header outbox-id: give the builder a messageId, which says how a record is known when it arrives again"
                .formatted(topic));
  }

  @Test
  @DisplayName("goes on where another comes and goes, with each effect once and in order")
  void rebalances() throws Exception {
    start(builder().build());
    int rounds = 6;
    for (int round = 0; round < rounds; round++) {
      for (int partition = 0; partition < Servers.PARTITIONS; partition++) {
        List<String> ids = ids("p%d-r%d-".formatted(partition, round), 20);
        Servers.send(topic, partition, ids);
        Servers.send(topic, partition, ids);
      }
      switch (round % 3) {
        case 0 -> start(builder().build());
        case 1 -> eventually(() -> assertThat(members()).isEqualTo(2));
        default -> running.get(running.size() - 2).close();
      }
    }
    for (int partition = 0; partition < Servers.PARTITIONS; partition++) {
      int of = partition;
      awaitEffects(
          partition,
          IntStream.range(0, rounds)
              .boxed()
              .flatMap(round -> ids("p%d-r%d-".formatted(of, round), 20).stream())
              .toList());
    }
    awaitCommitted(Map.of(0, rounds * 40L, 1, rounds * 40L, 2, rounds * 40L));
    assertThat(effects.ids()).doesNotHaveDuplicates();
  }

  private int members() throws Exception {
    try (Admin admin = Servers.admin()) {
      return admin.describeConsumerGroups(List.of(group)).all().get().get(group).members().size();
    }
  }

  private final CountDownLatch handling = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  private final RecordHandler<Connection, String, String> waiting =
      (connection, record) -> {
        handling.countDown();
        goOn.await();
        Effects.add(connection, record);
      };

  @Test
  @DisplayName("that is taken for dead, and goes on, neither repeats an effect nor overtakes")
  void takenForDead() throws Exception {
    Map<String, Object> impatient =
        new HashMap<>(Servers.settings(Servers.bootstrapServers(), group));
    impatient.put("max.poll.interval.ms", "1000");
    start(
        effects
            .consumer(
                new KafkaConsumer<>(impatient, new StringDeserializer(), new StringDeserializer()),
                topic)
            .handler(waiting)
            .build());
    Servers.send(topic, 0, ids("a", 50));
    handling.await();
    start(builder().build()); // gets the partition, and begins with the same record
    eventually(() -> assertThat(effects.isAnyoneWaiting()).isTrue());
    goOn.countDown(); // from here on both go on, with the same records
    awaitEffects(0, ids("a", 50));
    awaitCommitted(Map.of(0, 50L));
    assertThat(effects.ids()).hasSize(50);
  }

  @Test
  @DisplayName("ends where another has its place and the client would never join again")
  void samePlace() {
    Map<String, Object> settings =
        new HashMap<>(Servers.newProtocol(Servers.bootstrapServers(), group));
    settings.put("group.instance.id", "1");
    KafkaInboxConsumer<?, ?, ?> first = start(member(settings));
    eventually(() -> assertThat(first.status().state()).isEqualTo(State.RUNNING));
    KafkaInboxConsumer<?, ?, ?> second = member(settings);
    running.add(second);
    assertThatThrownBy(() -> CompletableFuture.runAsync(second).get(1, TimeUnit.MINUTES))
        .hasCauseInstanceOf(UnreleasedInstanceIdException.class);
    assertThat(second.status().state()).isEqualTo(State.FAILED);
    assertThat(first.status().state()).isEqualTo(State.RUNNING);
  }

  private KafkaInboxConsumer<?, ?, ?> member(Map<String, Object> settings) {
    return effects
        .consumer(
            new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer()),
            topic)
        .build();
  }

  @Test
  @DisplayName("finishes its record when it is closed, and leaves the rest to the next")
  void closing() throws Exception {
    KafkaInboxConsumer<Connection, String, String> first =
        start(builder().handler(waiting).build());
    Servers.send(topic, 0, ids("a", 10));
    handling.await();
    Thread closing = new Thread(first::close, "test-close");
    closing.start();
    await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    goOn.countDown();
    closing.join();
    assertThat(effects.ids()).containsExactly("a0");
    awaitCommitted(Map.of(0, 1L));
    assertThat(members()).isZero();
    start(builder().build());
    awaitEffects(0, ids("a", 10));
  }

  @Test
  @DisplayName("polls in time, however long a batch takes")
  void slow() {
    AtomicInteger polls = new AtomicInteger();
    KafkaConsumer<String, String> counting =
        new KafkaConsumer<>(
            Servers.settings(Servers.bootstrapServers(), group),
            new StringDeserializer(),
            new StringDeserializer()) {
          @Override
          public ConsumerRecords<String, String> poll(Duration timeout) {
            ConsumerRecords<String, String> records = super.poll(timeout);
            if (!records.isEmpty()) {
              polls.incrementAndGet();
            }
            return records;
          }
        };
    Servers.send(topic, 0, ids("a", 15));
    Servers.send(topic, 1, ids("b", 15));
    start(
        effects
            .consumer(counting, topic)
            .handlingTime(Duration.ofMillis(1))
            .handler(
                (connection, record) -> {
                  Thread.sleep(2); // longer than that
                  Effects.add(connection, record);
                })
            .build());
    awaitEffects(0, ids("a", 15));
    awaitEffects(1, ids("b", 15));
    assertThat(polls).as("one for each record").hasValueGreaterThanOrEqualTo(30);
  }

  @Test
  @DisplayName("ends when its thread is interrupted, and commits what is done")
  void interrupted() throws Exception {
    KafkaInboxConsumer<Connection, String, String> consumer =
        builder()
            .giveUpAfter(1, Effects::letter)
            .handler(
                (connection, record) -> {
                  if (record.value().equals("a1")) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedException();
                  }
                  Effects.add(connection, record);
                })
            .build();
    Servers.send(topic, 0, ids("a", 3));
    AtomicInteger wasInterrupted = new AtomicInteger();
    Thread thread =
        new Thread(
            () -> {
              consumer.run();
              wasInterrupted.set(Thread.interrupted() ? 1 : 2);
            });
    thread.start();
    thread.join();
    assertThat(wasInterrupted).hasValue(1);
    assertThat(effects.ids()).containsExactly("a0");
    assertThat(effects.letters()).isEmpty();
    awaitCommitted(Map.of(0, 1L));
  }
}
