package dev.outbox.publisher.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class LimitedPublisherTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private final AtomicLong now = new AtomicLong(-SECOND); // nanoTime may be negative
  private final List<Long> sent = new ArrayList<>();
  private Result result = Result.delivered();
  private final MessagePublisher broker =
      messages -> {
        messages.forEach(message -> sent.add(message.sequence()));
        return Collections.nCopies(messages.size(), result);
      };

  private MessagePublisher limited(MessagePublisher publisher, Rate rate) {
    return LimitedPublisher.builder(publisher)
        .limit("invoice", rate, message -> message.message().aggregateType().equals("invoice"))
        .clock(now::get)
        .build();
  }

  private static StoredMessage message(long sequence, String type, String key) {
    return StoredMessage.of(
        sequence,
        0,
        Instant.EPOCH,
        OutboxMessage.builder()
            .id(new UUID(0, sequence))
            .aggregate(type, key)
            .partitionKey(key)
            .eventType("Happened")
            .payload("{}")
            .build());
  }

  private static StoredMessage invoice(long sequence) {
    return message(sequence, "invoice", "k" + sequence);
  }

  private static Duration again(Result result) {
    return ((Result.Unavailable) result).again();
  }

  @Test
  @DisplayName("what is over a limit gets turns one after the other, and the others go")
  void limits() throws Exception {
    List<Result> results =
        limited(broker, Rate.perSecond(2))
            .publish(
                List.of(
                    invoice(1),
                    invoice(2),
                    invoice(3),
                    message(4, "order", "o"),
                    invoice(5),
                    invoice(6)));
    assertThat(sent).containsExactly(1L, 2L, 4L);
    assertThat(results.get(0)).isEqualTo(Result.delivered());
    assertThat(results.get(3)).isEqualTo(Result.delivered());
    assertThat(results.get(2))
        .isEqualTo(
            new Result.Unavailable(
                "waits for its turn: the limit of invoice is 2/s",
                "the limit of invoice",
                Duration.ofSeconds(1)));
    assertThat(again(results.get(4))).isEqualTo(Duration.ofSeconds(1));
    assertThat(again(results.get(5))).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  @DisplayName("nothing overtakes in a key, also when it has no limit itself (P2)")
  void order() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(1));
    List<Result> results =
        limited.publish(
            List.of(
                message(1, "invoice", "a"),
                message(2, "invoice", "a"),
                message(3, "order", "a"),
                message(4, "order", "b")));
    assertThat(sent).containsExactly(1L, 4L);
    assertThat(results.get(2))
        .isInstanceOfSatisfying(
            Result.Unavailable.class,
            unavailable -> assertThat(unavailable.error()).contains("message 2 of its key"));
    now.addAndGet(SECOND);
    assertThat(limited.publish(List.of(message(2, "invoice", "a"), message(3, "order", "a"))))
        .containsOnly(Result.delivered());
  }

  @Test
  @DisplayName("a turn is kept for its message, and lost when it is not used")
  void turns() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(1));
    var ignored = limited.publish(List.of(invoice(1), invoice(2)));
    now.addAndGet(SECOND);
    assertThat(again(limited.publish(List.of(invoice(3))).get(0)))
        .as("the turn is that of 2")
        .isEqualTo(Duration.ofSeconds(1));
    now.addAndGet(SECOND / 2);
    assertThat(limited.publish(List.of(invoice(2)))).containsExactly(Result.delivered());
    now.addAndGet(Turns.LATE.toNanos() + 2 * SECOND);
    assertThat(limited.publish(List.of(invoice(4)))).containsExactly(Result.delivered());
    assertThat(again(limited.publish(List.of(invoice(3))).get(0)))
        .as("it came too late")
        .isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  @DisplayName("turns that were missed in a pause are used late, with at most twice the rate")
  void late() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(2));
    List<StoredMessage> ten =
        LongStream.rangeClosed(1, 10).mapToObj(LimitedPublisherTest::invoice).toList();
    assertThat(limited.publish(ten)).filteredOn(Result.delivered()::equals).hasSize(2);
    now.addAndGet(6 * SECOND);
    List<Result> after = limited.publish(ten.subList(2, 10));
    assertThat(after.subList(0, 4)).containsOnly(Result.delivered());
    assertThat(after.subList(4, 8))
        .extracting(LimitedPublisherTest::again)
        .containsOnly(Duration.ofSeconds(1));
    now.addAndGet(SECOND);
    assertThat(limited.publish(ten.subList(6, 10))).containsOnly(Result.delivered());
  }

  /** A relay that hands each message over when it is due; returns how often it did. */
  private final class Handing {
    record Due(long at, long sequence) {}

    final PriorityQueue<Due> due =
        new PriorityQueue<>((one, other) -> Long.compare(one.at - other.at, 0));
    final List<Long> times = new ArrayList<>();
    int calls;

    void append(long sequence) {
      due.add(new Due(now.get(), sequence));
    }

    /** Hands over what is due up to a time. */
    void until(MessagePublisher limited, long end) throws Exception {
      for (Due next = due.peek(); next != null && next.at - end <= 0; next = due.peek()) {
        due.remove();
        now.set(Math.max(now.get(), next.at));
        calls++;
        Result result = limited.publish(List.of(invoice(next.sequence))).get(0);
        if (result instanceof Result.Delivered) {
          times.add(now.get());
        } else {
          due.add(new Due(now.get() + again(result).toNanos(), next.sequence));
        }
      }
      now.set(end);
    }
  }

  @Test
  @DisplayName("a backlog is sent at the rate, and each message waits once")
  void backlog() throws Exception {
    Handing handing = new Handing();
    LongStream.rangeClosed(1, 500).forEach(handing::append);
    handing.until(limited(broker, Rate.perSecond(10)), now.get() + 60 * SECOND);
    assertThat(handing.times).hasSize(500);
    assertThat(handing.calls).isEqualTo(10 + 2 * 490);
    for (int i = 10; i < handing.times.size(); i++) {
      assertThat(handing.times.get(i) - handing.times.get(i - 10)).isEqualTo(SECOND);
    }
  }

  @Test
  @DisplayName(
      "no message starves, also where more wait than have turns and more come all the time")
  void fair() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(100));
    Handing handing = new Handing();
    int backlog = 2 * Turns.MOST;
    LongStream.rangeClosed(1, backlog).forEach(handing::append);
    for (int second = 1; second <= 4 * Turns.MOST / 100; second++) {
      long first = backlog + 100L * second;
      LongStream.range(first, first + 100).forEach(handing::append);
      handing.until(limited, now.get() + SECOND);
    }
    assertThat(sent).doesNotHaveDuplicates();
    assertThat(sent.stream().filter(sequence -> sequence <= backlog)).hasSize(backlog);
  }

  @Test
  @DisplayName("more messages than have turns come again behind those that have")
  void bounded() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(1));
    var ignored =
        limited.publish(
            LongStream.rangeClosed(0, Turns.MOST).mapToObj(LimitedPublisherTest::invoice).toList());
    Duration last = Duration.ofSeconds(Turns.MOST + 1);
    List<Result> late = limited.publish(List.of(invoice(20_001), invoice(20_002)));
    assertThat(late).extracting(LimitedPublisherTest::again).containsExactly(last, last);
    now.addAndGet(last.toNanos());
    assertThat(limited.publish(List.of(invoice(20_001), invoice(20_002))))
        .extracting(Object::getClass)
        .containsExactly((Class) Result.Delivered.class, (Class) Result.Unavailable.class);
  }

  @Test
  @DisplayName("who comes for an answer needs no turn")
  void answers() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(1));
    result = new Result.Unavailable("sent", "host", Duration.ofSeconds(15));
    assertThat(limited.publish(List.of(invoice(1)))).containsExactly(result);
    result = Result.delivered();
    assertThat(limited.publish(List.of(invoice(1), invoice(2))))
        .extracting(Object::getClass)
        .containsExactly((Class) Result.Delivered.class, (Class) Result.Unavailable.class);
  }

  @Test
  @DisplayName("who comes for an answer that was an outage needs a turn for the next try")
  void outage() throws Exception {
    MessagePublisher limited = limited(broker, Rate.perSecond(1));
    result = new Result.Unavailable("sent", "host", Duration.ofSeconds(15));
    var ignored = limited.publish(List.of(invoice(1)));
    result = Result.unavailable("it timed out", "host");
    assertThat(limited.publish(List.of(invoice(1)))).containsExactly(result);
    assertThat(again(limited.publish(List.of(invoice(1))).get(0))).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  @DisplayName(
      "after an exception the relay may try each message at once, so that it finds the culprit")
  void culprit() throws Exception {
    List<Integer> calls = new ArrayList<>();
    MessagePublisher limited =
        limited(
            messages -> {
              calls.add(messages.size());
              if (messages.stream().anyMatch(message -> message.sequence() == 2)) {
                throw new IllegalStateException("no");
              }
              return Collections.nCopies(messages.size(), Result.delivered());
            },
            Rate.perSecond(2));
    assertThatThrownBy(() -> limited.publish(List.of(invoice(1), invoice(2)))).hasMessage("no");
    assertThat(limited.publish(List.of(invoice(1)))).containsExactly(Result.delivered());
    assertThatThrownBy(() -> limited.publish(List.of(invoice(2)))).hasMessage("no");
    assertThat(calls).containsExactly(2, 1, 1);
  }

  @Test
  @DisplayName("a publisher that gives a wrong number of results is told so (P1)")
  void wrongNumber() {
    assertThatThrownBy(
            () ->
                limited(messages -> List.of(), Rate.perSecond(9))
                    .publish(List.of(invoice(1), message(2, "order", "o"))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("publish returned 0 results for 2 messages (P1)");
  }

  @Test
  @DisplayName("settings are read: a type has its own rate, or shares that of all others")
  void settings() throws Exception {
    assertThat(LimitedPublisher.of(broker, null, Map.of(), StoredMessage::key)).isSameAs(broker);
    MessagePublisher limited =
        LimitedPublisher.of(
            broker, "1/d", Map.of("invoice", "2/h"), message -> message.message().aggregateType());
    assertThat(
            limited.publish(
                List.of(
                    invoice(1),
                    invoice(2),
                    invoice(3),
                    message(4, "order", "a"),
                    message(5, "cart", "b"))))
        .extracting(one -> one instanceof Result.Unavailable u ? u.destination() : "")
        .containsExactly("", "", "the limit of invoice", "", "the limit of all others");
  }

  @Test
  @DisplayName("a rate is refused with what is allowed")
  void rates() {
    assertThat(Rate.parse(" 600 / m ")).isEqualTo(new Rate(600, Duration.ofMinutes(1)));
    assertThat(Rate.parse("5/h")).hasToString("5/h");
    assertThat(new Rate(7, Duration.ofSeconds(90))).hasToString("7 in 90s");
    assertThatThrownBy(() -> Rate.parse("fast"))
        .hasMessageContaining("the rate fast")
        .hasMessageContaining("20/s");
    assertThatThrownBy(() -> Rate.parse("0/s")).hasMessageContaining("from 1 to 100,000");
    assertThatThrownBy(() -> new Rate(1, Duration.ofMillis(999)))
        .hasMessageContaining("the period of a rate is 999ms");
  }

  @Test
  @DisplayName("a broker that can be asked can be asked through the limits (P6)")
  void asked() throws Exception {
    class Asked implements MessagePublisher {
      boolean closed;

      @Override
      public List<Result> publish(List<StoredMessage> messages) {
        return List.of();
      }

      @Override
      public String address() {
        return "here";
      }

      @Override
      public Optional<String> unreachable(Duration patience) {
        return Optional.of("away");
      }

      @Override
      public void close() {
        closed = true;
      }
    }
    Asked asked = new Asked();
    MessagePublisher limited = limited(asked, Rate.perSecond(1));
    assertThat(limited.address()).isEqualTo("here");
    assertThat(limited.unreachable(Duration.ZERO)).contains("away");
    limited.close();
    assertThat(asked.closed).isTrue();
    assertThat(limited(broker, Rate.perSecond(1)).address()).isNull();
  }
}
