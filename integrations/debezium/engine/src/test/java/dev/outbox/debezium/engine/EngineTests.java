package dev.outbox.debezium.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.embedded.TestServer;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.kafka.KafkaPublisher;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.publisher.MessagePublisher;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What holds on every database. The property {@code outbox.test.debezium.messages} says how many
 * messages are published, 300 by default, and {@code outbox.test.seed} which.
 */
abstract class EngineTests {
  static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int MESSAGES = Integer.getInteger("outbox.test.debezium.messages", 300);

  static final class Broker {
    static final TestServer KAFKA = TestServer.kafka();

    private Broker() {}
  }

  final TestServer kafka = Broker.KAFKA;
  Source source;
  Account account;
  Topic ofEngine;
  Topic ofRelay;

  abstract Source source();

  @BeforeEach
  void begin() {
    source = source();
    account = new Account(source, Long.getLong("outbox.test.seed", System.nanoTime()));
    ofEngine = new Topic(kafka);
    ofRelay = new Topic(kafka);
  }

  @AfterEach
  void end() {
    ofRelay.close();
    ofEngine.close();
    source.close();
  }

  final Engine engine() {
    return Engine.start(kafka, source.engine(ofEngine.name));
  }

  /** Which never remembers how far it is, so the next one repeats all that it published. */
  final Engine forgetfulEngine() {
    Map<String, String> settings = source.engine(ofEngine.name);
    settings.put("offset.flush.interval.ms", Long.toString(Duration.ofDays(1).toMillis()));
    return Engine.start(kafka, settings);
  }

  final KafkaPublisher publisher(Topic topic) {
    return KafkaPublisher.builder()
        .property("bootstrap.servers", kafka.address())
        .destination(Destination.pattern(topic.name))
        .build();
  }

  final Relay relay(MessagePublisher publisher) {
    Relay relay =
        Relay.builder(source.store, publisher)
            .retryPolicy(RetryPolicy.builder().firstDelay(Duration.ofMillis(20)).build())
            .build();
    relay.start();
    return relay;
  }

  final CompletableFuture<Void> appending(int messages) {
    return CompletableFuture.runAsync(
        () -> account.append(messages),
        task -> {
          Thread thread = new Thread(task, "producer");
          thread.setDaemon(true);
          thread.start();
        });
  }

  static void join(CompletableFuture<?> task) throws Exception {
    task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Partition, key, value, and headers in their order. */
  final void assertSameRecords() {
    Map<String, Topic.Arrived> wanted = ofRelay.first();
    assertThat(ofEngine.first().keySet()).isEqualTo(wanted.keySet());
    ofEngine.first().forEach((id, record) -> assertThat(record).isEqualTo(wanted.get(id)));
  }

  @Test
  @DisplayName(
      "killed twice, loses nothing, keeps each key's order, and sends the publisher's records")
  void killed() throws Exception {
    int third = MESSAGES / 3;
    account.append(MESSAGES - 2 * third);
    try (Engine engine = engine()) {
      engine.awaitPublished(account.count()); // the snapshot
      CompletableFuture<Void> producer = appending(third);
      engine.awaitPublished(MESSAGES - 2 * third + third / 2);
      engine.close();
      join(producer);
    }
    try (Engine engine = forgetfulEngine()) {
      CompletableFuture<Void> producer = appending(third);
      engine.awaitPublished(third / 2);
      engine.close();
      join(producer);
    }
    try (Engine engine = engine()) {
      account.assertArrived(ofEngine);
    }
    int records = ofEngine.readToEnd().records();
    System.out.println(account.count() + " messages came as " + records + " records");
    // How many depends on what the database was told to forget, by a client that is killed.
    assertThat(records).as("with repetitions").isGreaterThan(account.count());
    // Nobody has deleted them: now the relay publishes the same messages.
    try (KafkaPublisher publisher = publisher(ofRelay);
        Relay relay = relay(publisher)) {
      account.assertArrived(ofRelay);
    }
    assertSameRecords();
  }

  @Test
  @DisplayName("beside a relay that moves and deletes the same rows, sends each message once")
  void beside() throws Exception {
    account.append(20);
    try (Engine engine = engine();
        KafkaPublisher publisher = publisher(ofRelay)) {
      engine.awaitPublished(20);
      Flaky flaky = new Flaky(publisher);
      try (Relay relay = relay(flaky)) {
        account.append(200);
        await().atMost(PATIENCE).until(() -> source.messages() == 0);
      }
      assertThat(flaky.failures()).as("messages that were moved").isPositive();
      account.append(1); // which comes behind all that the relay did
      account.assertArrived(ofEngine);
      engine.awaitPublished(account.count());
      assertThat(ofEngine.readToEnd().records()).as("with repetitions").isEqualTo(account.count());
      try (Relay relay = relay(publisher)) {
        account.assertArrived(ofRelay);
      }
    }
    assertSameRecords();
  }

  @Test
  @DisplayName("takes over from a relay under load, and nothing is lost or out of order")
  void takesOver() throws Exception {
    // One topic for both.
    CompletableFuture<Void> producer = appending(MESSAGES);
    try (KafkaPublisher publisher = publisher(ofEngine);
        Relay relay = relay(publisher)) {
      await()
          .atMost(PATIENCE)
          .pollInSameThread()
          .until(() -> ofEngine.read().first().size() > MESSAGES / 10);
    }
    join(producer);
    CompletableFuture<Void> more = appending(MESSAGES);
    await().atMost(PATIENCE).until(() -> source.messages() > 20); // something to take over
    try (Engine engine = engine()) {
      join(more);
      account.append(10);
      account.assertArrived(ofEngine);
    }
  }

  @Test
  @DisplayName("is followed by housekeeping that deletes by age, and by nothing that is younger")
  void purge() {
    account.append(30);
    String age = Page.block("age, " + source.label());
    String days = source.label().equals("MySQL") ? "'8' day" : "'8 days'";
    long first = Long.parseLong(source.database.query("select min(seq) from outbox_message"));
    int old =
        source.update(
            "update outbox_message set created_at = created_at - interval %s where seq <= %d"
                .formatted(days, first + 9));
    assertThat(old).isPositive();
    assertThat(source.update("update outbox_message set status = 'DEAD' where seq = " + first))
        .isEqualTo(1);
    assertThat(source.update(age)).as("all that are old but the dead letter").isEqualTo(old - 1);
    assertThat(source.update(age)).isZero();
    assertThat(source.messages()).isEqualTo(31 - old);
    String dedupKeys = Page.block("dedup keys, " + source.label());
    assertThat(source.update(dedupKeys)).isZero();
    int known =
        source.update(
            "update outbox_dedup set created_at = created_at - interval %s".formatted(days));
    assertThat(known).as("dedup keys").isPositive();
    assertThat(source.update(dedupKeys)).isEqualTo(known);
  }
}
