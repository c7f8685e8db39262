package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayEvent;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** F3, with relays that hold buckets and have messages handed over. */
@DisplayName("A pause of one type")
class PausesTest extends DatabaseTest {
  private static final String PAUSED = "order";
  private static final String FLOWING = "invoice";
  private static final int BACKLOG = 2_000;
  private static final int KEYS = 40;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** What was published, and when. */
  private record Published(StoredMessage message, long at) {
    String type() {
      return message.message().aggregateType();
    }
  }

  private final Queue<Published> published = new ConcurrentLinkedQueue<>();
  private final Set<String> seenBy = ConcurrentHashMap.newKeySet();

  @BeforeEach
  void migrate() {
    store.migrate();
  }

  private static OutboxMessage message(String type, int number) {
    return OutboxMessage.builder()
        .aggregate(type, "key " + number % KEYS)
        .eventType("e")
        .payload(type + " " + number)
        .build();
  }

  /** Takes three milliseconds a message, so that a backlog lasts. */
  private List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    for (StoredMessage message : messages) {
      TimeUnit.MILLISECONDS.sleep(3);
      published.add(new Published(message, System.nanoTime()));
    }
    return messages.stream().map(message -> Result.delivered()).toList();
  }

  private Relay relay(String name) {
    MessagePublisher publisher = this::publish;
    return Relay.builder(store, publisher)
        .name(name)
        .workers(1)
        .batchSize(50)
        .listener(
            event -> {
              if (event instanceof RelayEvent.Paused) {
                seenBy.add(name);
              }
            })
        .build();
  }

  private List<Published> of(String type) {
    return published.stream().filter(one -> one.type().equals(type)).toList();
  }

  private void append(Relay relay, OutboxMessage message) {
    AtomicReference<Uncommitted> uncommitted = new AtomicReference<>();
    database.inTransaction(false, c -> uncommitted.set(relay.append(store, c, List.of(message))));
    Committed ignored = uncommitted.get().committed();
  }

  @Test
  @DisplayName("lets the others flow, also what is handed over, and loses and mixes up nothing")
  void oneType() throws InterruptedException {
    List<OutboxMessage> backlog =
        IntStream.range(0, BACKLOG).mapToObj(i -> message(PAUSED, i)).toList();
    database.inTransaction(false, c -> store.append(c, backlog));
    int more = 0;
    try (Relay one = relay("one");
        Relay two = relay("two")) {
      one.start();
      two.start();
      await().atMost(PATIENCE).until(() -> !published.isEmpty());
      store.pause(PAUSED, new Who("ann", "stock taking"));
      long pausedAt = System.nanoTime();
      for (; System.nanoTime() - pausedAt < 4 * SECOND; more++) {
        append(one, message(PAUSED, BACKLOG + more));
        append(two, message(FLOWING, more));
        TimeUnit.MILLISECONDS.sleep(20);
      }
      int flowing = more;
      await().atMost(PATIENCE).until(() -> of(FLOWING).size() == flowing);
      assertThat(of(PAUSED))
          .as("published more than a second after the pause, and a batch's time")
          .allMatch(message -> message.at() - pausedAt < 2 * SECOND)
          .hasSizeLessThan(BACKLOG + more);
      assertThat(seenBy).isNotEmpty().isSubsetOf("one", "two");
      long resumedAt = System.nanoTime();
      assertThat(store.resume(PAUSED, Who.named("ann"))).isTrue();
      await().atMost(Duration.ofMinutes(2)).until(() -> store.statistics(10).oldest() == null);
      long first =
          of(PAUSED).stream().mapToLong(Published::at).filter(at -> at > resumedAt).min().orElse(0);
      assertThat(first - resumedAt).as("from resume to the first").isLessThan(5 * SECOND);
    }
    List<String> came =
        of(PAUSED).stream().map(one -> one.message().message().payloadAsString()).toList();
    assertThat(came).doesNotHaveDuplicates().hasSize(BACKLOG + more);
    published.stream()
        .collect(
            Collectors.groupingBy(
                one -> one.message().key(),
                Collectors.mapping(one -> one.message().sequence(), Collectors.toList())))
        .forEach((key, sequences) -> assertThat(sequences).as(key).isSorted());
    assertThat(published).allMatch(one -> one.message().attempts() == 0);
  }
}
