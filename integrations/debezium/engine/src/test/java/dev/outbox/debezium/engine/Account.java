package dev.outbox.debezium.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Appends messages of every kind, and knows what has to arrive. One thread appends at a time, so
 * that the order of a key is the order of its appends.
 */
final class Account {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int KEYS = 20;
  private static final List<String> TEXTS =
      List.of(
          "4711",
          "with space",
          "ümläut 🎉",
          "line\nbreak",
          "\"quoted\" 'too'",
          "back\\slash \\u0041 \\x41",
          "{\"a\":[1,null]}",
          "null",
          "true",
          "x".repeat(255),
          "🎉".repeat(255));

  private final Source source;
  private final Random random;

  /** The ids of each key, in order. */
  private final Map<String, List<String>> appended = new LinkedHashMap<>();

  private int count;
  private int made;

  Account(Source source, long seed) {
    this.source = source;
    System.out.println("the messages are those of the seed " + seed);
    random = new Random(seed);
  }

  /** In transactions of one to ten. */
  synchronized void append(int messages) {
    for (int left = messages; left > 0; ) {
      int some = Math.min(left, 1 + random.nextInt(10));
      List<OutboxMessage> transaction = new ArrayList<>();
      for (int i = 0; i < some; i++) {
        transaction.add(message());
      }
      source.append(transaction);
      for (OutboxMessage message : transaction) {
        appended
            .computeIfAbsent(message.key(), key -> new ArrayList<>())
            .add(message.id().toString());
      }
      left -= some;
      count += some;
    }
  }

  private OutboxMessage message() {
    int key = random.nextInt(KEYS);
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .aggregate(key % 2 == 0 ? "order" : text(), "id " + key)
            .eventType(text())
            .payload(payload());
    if (key % 5 == 0) {
      message.partitionKey("partition " + key);
    } else if (key % 7 == 0) {
      message.unordered();
    }
    if (random.nextInt(4) == 0) {
      message.contentType("application/x-" + key).correlationId(text());
      message.dedupKey("dedup " + random.nextLong());
    }
    for (int headers = random.nextInt(4); headers > 0; headers--) {
      message.header(text().substring(0, 4), random.nextInt(8) == 0 ? "" : text());
    }
    return message.build();
  }

  private String text() {
    return TEXTS.get(random.nextInt(TEXTS.size()));
  }

  /** Some bytes, two of them NUL; now and then none, and of a thousand once as many as can be. */
  private byte[] payload() {
    int length = random.nextInt(200);
    byte[] bytes =
        new byte[made++ % 1000 == 17 ? OutboxMessage.MAX_PAYLOAD : length < 10 ? 0 : length];
    random.nextBytes(bytes);
    Arrays.fill(bytes, 0, Math.min(2, bytes.length), (byte) 0);
    return bytes;
  }

  synchronized int count() {
    return count;
  }

  synchronized Set<String> ids() {
    Set<String> ids = new LinkedHashSet<>();
    appended.values().forEach(ids::addAll);
    return ids;
  }

  /** Waits until all have arrived; none is too much, and each key's are in order. */
  void assertArrived(Topic topic) {
    Set<String> ids = ids();
    await()
        .atMost(PATIENCE)
        .pollInSameThread()
        .until(() -> topic.read().first().keySet().containsAll(ids));
    assertThat(topic.first().keySet()).hasSameSizeAs(ids);
    assertThat(topic.different()).as("came again as something else").isEmpty();
    List<String> arrived = List.copyOf(topic.first().keySet());
    Map<String, Integer> places = new LinkedHashMap<>();
    for (int i = 0; i < arrived.size(); i++) {
      places.put(arrived.get(i), i);
    }
    synchronized (this) {
      appended.forEach(
          (key, wanted) ->
              assertThat(wanted.stream().map(places::get).toList())
                  .as("the order of %s", key)
                  .isSorted());
    }
  }
}
