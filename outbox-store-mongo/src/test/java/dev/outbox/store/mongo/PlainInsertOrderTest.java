package dev.outbox.store.mongo;

import static dev.outbox.store.mongo.TestDatabase.least;
import static dev.outbox.store.mongo.TestDatabase.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.ClientSession;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Oracle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.bson.BsonBinary;
import org.bson.Document;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Producers that append and producers that insert documents by hand write the same keys, each key
 * by one after the other (O5), while relays claim, which adopt the documents, all at once: the
 * messages of a key are first delivered in the order of their commits. {@code
 * -Doutbox.adoption.seed=…} for the same choices again.
 */
class PlainInsertOrderTest extends StoreTests {
  private static final long SEED = Long.getLong("outbox.adoption.seed", System.nanoTime());
  private static final List<String> RULES = List.of("A1", "C1", "C2", "O1", "S2", "S4", "C3");
  private static final int PRODUCERS = 3;
  private static final int RELAYS = 3;
  private static final int TRANSACTIONS = 60;
  private static final Duration LEASE = Duration.ofSeconds(2);

  private final Oracle oracle = new Oracle();

  /** Of two buckets, so that mostly there is work in them and a relay that reads all the time. */
  private final Map<String, Lock> locks =
      IntStream.iterate(0, i -> i + 1)
          .mapToObj(i -> "key " + i)
          .filter(key -> Documents.bucket(key) < 2)
          .limit(8)
          .collect(Collectors.toMap(key -> key, key -> new ReentrantLock()));

  private final List<String> keys = List.copyOf(locks.keySet());
  private final AtomicInteger left = new AtomicInteger(PRODUCERS * TRANSACTIONS);
  private volatile boolean over;

  @Test
  @DisplayName("documents by hand and appended messages of a key keep their order")
  void order() throws Exception {
    System.out.printf("Adoption with -Doutbox.adoption.seed=%d%n", SEED);
    List<CompletableFuture<Void>> producers = run(PRODUCERS, this::produce);
    List<CompletableFuture<Void>> relays = run(RELAYS, this::relay);
    for (CompletableFuture<Void> producer : producers) {
      producer.get(5, TimeUnit.MINUTES);
    }
    await().atMost(Duration.ofMinutes(3)).until(() -> oracle.open() == 0);
    over = true;
    for (CompletableFuture<Void> relay : relays) {
      relay.get(3, TimeUnit.MINUTES);
    }
    for (String rule : RULES) {
      assertThat(oracle.violations(rule)).as("%s, seed %d", rule, SEED).isEmpty();
    }
    assertThat(database.collection("outbox_message").countDocuments()).isZero();
  }

  private interface Work {
    void run(Random random);
  }

  private static List<CompletableFuture<Void>> run(int threads, Work work) {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Random random = new Random(SEED + i);
      all.add(CompletableFuture.runAsync(() -> work.run(random), task -> new Thread(task).start()));
    }
    return all;
  }

  // ---- producers

  private void produce(Random random) {
    while (left.getAndDecrement() > 0) {
      String key = keys.get(random.nextInt(keys.size()));
      locks.get(key).lock();
      try {
        for (int i = random.nextInt(4); i >= 0; i--) {
          transaction(key, random);
        }
      } finally {
        locks.get(key).unlock();
      }
    }
  }

  /** Of one kind or the other, one right after the other. */
  private void transaction(String key, Random random) {
    List<OutboxMessage> messages =
        IntStream.rangeClosed(0, random.nextInt(3)).mapToObj(i -> message(key).build()).toList();
    messages.forEach(oracle::appending);
    if (random.nextBoolean()) {
      database.append(store, messages.toArray(OutboxMessage[]::new));
    } else {
      insert(messages, random);
    }
    oracle.committed(messages);
  }

  /** As another language's driver would: one at a time, or together in a transaction. */
  private void insert(List<OutboxMessage> messages, Random random) {
    if (random.nextBoolean()) {
      messages.forEach(m -> database.collection("outbox_message").insertOne(document(m)));
      return;
    }
    try (ClientSession session = database.client.startSession()) {
      session.startTransaction();
      messages.forEach(m -> database.collection("outbox_message").insertOne(session, document(m)));
      LockSupport.parkNanos(random.nextInt(5_000_000));
      session.commitTransaction();
    }
  }

  private static Document document(OutboxMessage message) {
    return least(message.aggregateId())
        .append("id", new BsonBinary(message.id()))
        .append("partitionKey", message.partitionKey());
  }

  // ---- relays

  private void relay(Random random) {
    while (!over) {
      long calledAt = System.nanoTime();
      Claim claim = claim(random);
      long returnedAt = System.nanoTime();
      if (claim.messages().isEmpty()) {
        LockSupport.parkNanos(1_000_000);
        continue;
      }
      oracle.claimed(claim, calledAt);
      Map<Long, Decision> decisions = deliver(claim, random);
      long settledAt = System.nanoTime();
      Set<Long> lost = settle(claim, decisions);
      oracle.settled(claim, returnedAt, settledAt, lost, decisions);
    }
  }

  private Claim claim(Random random) {
    while (true) {
      try {
        return store.claim(new Claim.Request("relay", 1 + random.nextInt(20), 1_000_000, LEASE));
      } catch (TransientOutboxException e) {
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  /** Some fail, so that keys are blocked while documents by hand come in. */
  private Map<Long, Decision> deliver(Claim claim, Random random) {
    Map<Long, Decision> decisions = new HashMap<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : claim.messages()) {
      if (stopped.contains(message.key())) {
        continue;
      }
      if (random.nextInt(15) == 0) {
        stopped.add(message.key());
        Duration delay = Duration.ofMillis(random.nextInt(20));
        decisions.put(message.sequence(), Decision.retry(delay, "failed"));
      } else {
        oracle.delivering(message);
        decisions.put(message.sequence(), Decision.delivered());
      }
    }
    return decisions;
  }

  private static Set<Long> settle(Claim claim, Map<Long, Decision> decisions) {
    while (true) {
      try {
        return claim.settle(decisions);
      } catch (TransientOutboxException e) {
        LockSupport.parkNanos(1_000_000);
      }
    }
  }
}
