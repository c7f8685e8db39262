package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.stored;
import static dev.outbox.publisher.http.TestMessages.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.http.Receiver.Reply;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One request of a key at a time, many keys side by side, and no more than allowed. */
class OrderTest {
  private final Receiver receiver = Receiver.start();

  @AfterEach
  void close() {
    receiver.close();
  }

  private static List<StoredMessage> many(int count, int keys, String prefix) {
    List<StoredMessage> messages = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      messages.add(stored(message(prefix + i % keys)));
    }
    return messages;
  }

  @Test
  @DisplayName("one of a key, all keys, and never more than maxInFlight of all calls together")
  void inFlight() throws Exception {
    int most = 8;
    AtomicInteger now = new AtomicInteger();
    AtomicInteger highest = new AtomicInteger();
    Map<String, AtomicInteger> ofKey = new ConcurrentHashMap<>();
    AtomicInteger twice = new AtomicInteger();
    receiver.answer =
        request -> {
          highest.accumulateAndGet(now.incrementAndGet(), Math::max);
          AtomicInteger key =
              ofKey.computeIfAbsent(request.field("ce-subject"), k -> new AtomicInteger());
          twice.addAndGet(key.incrementAndGet() > 1 ? 1 : 0);
          LockSupport.parkNanos(1_000_000);
          key.decrementAndGet();
          now.decrementAndGet();
          return Reply.of(204);
        };
    HttpPublisher publisher = TestMessages.publisher(receiver.url("/")).maxInFlight(most).build();
    ExecutorService threads = Executors.newFixedThreadPool(3);
    List<Future<List<Result>>> calls = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      List<StoredMessage> messages = many(300, 30, i + "-");
      calls.add(threads.submit(() -> publisher.publish(messages)));
    }
    for (Future<List<Result>> call : calls) {
      assertThat(call.get()).hasSize(300).containsOnly(Result.delivered());
    }
    threads.shutdown();
    assertThat(twice).as("requests of a key beside another").hasValue(0);
    assertThat(highest.get()).isBetween(2, most);
    Map<String, Long> last = new HashMap<>();
    for (Receiver.Request request : receiver.requests) {
      long sequence = Long.parseLong(request.field("outbox-sequence"));
      Long before = last.put(request.field("ce-subject"), sequence);
      assertThat(before == null || before < sequence).isTrue();
    }
  }

  @Test
  @DisplayName("a call that would last too long sends no more, and says so; what it sent counts")
  void timeIsOver() throws InterruptedException {
    receiver.answer =
        request -> {
          LockSupport.parkNanos(20_000_000);
          return Reply.of(204);
        };
    HttpPublisher publisher =
        TestMessages.publisher(receiver.url("/"))
            .timeout(Duration.ofSeconds(1))
            .requestTimeout(Duration.ofMillis(500))
            .build();
    List<Result> results = publisher.publish(many(200, 1, "k"));
    int delivered =
        results.indexOf(
            results.stream()
                .filter(r -> !(r instanceof Result.Delivered))
                .findFirst()
                .orElseThrow());
    assertThat(delivered).isPositive();
    assertThat(receiver.requests).hasSize(delivered);
    assertThat(error(results.get(delivered))).contains("the call's time went by");
    assertThat(results.subList(delivered, 200))
        .allSatisfy(
            result ->
                assertThat(result)
                    .isInstanceOfSatisfying(
                        Result.Unavailable.class, u -> assertThat(u.destination()).isNull()));
  }
}
