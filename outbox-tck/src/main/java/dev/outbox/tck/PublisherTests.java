package dev.outbox.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Tests of a publisher whose broker works. */
abstract class PublisherTests {
  final PublisherTck tck;

  PublisherTests(PublisherTck tck) {
    this.tck = tck;
  }

  /** A fixture that is wrong makes every other failure hard to read. */
  abstract static class FixtureTests extends PublisherTests {
    FixtureTests(PublisherTck tck) {
      super(tck);
    }

    @Test
    @DisplayName("what was published can be read back, and is gone after a reset")
    void readsBack() {
      StoredMessage message = tck.stored(tck.message("k"));
      tck.publish(List.of(message));
      List<PublisherTck.Received> received = tck.await(r -> !r.isEmpty());
      assertThat(received).as("what received() says after one message").hasSize(1);
      assertThat(PublisherTck.ids(received))
          .as("received() gives the attribute ID")
          .containsExactly(PublisherTck.id(message));
      tck.reset();
      assertThat(tck.received()).as("what received() says after reset()").isEmpty();
    }
  }

  /** P1. */
  abstract static class ResultTests extends PublisherTests {
    private static final int MANY = 300;

    ResultTests(PublisherTck tck) {
      super(tck);
    }

    @Test
    @Rule("P1")
    @DisplayName("one result a message, and what is delivered is at the broker by then")
    void delivered() {
      List<StoredMessage> messages = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        messages.add(tck.stored(tck.message("k" + i % 40)));
      }
      List<Result> results = tck.publish(messages);
      List<String> arrived = PublisherTck.ids(tck.received());
      assertThat(results)
          .as("the results of %d messages that nothing is wrong with", MANY)
          .hasSize(MANY)
          .containsOnly(Result.DELIVERED);
      assertThat(arrived)
          .as("what the broker has when publish returns; all was reported as delivered")
          .containsExactlyInAnyOrderElementsOf(messages.stream().map(PublisherTck::id).toList());
    }

    @Test
    @Rule("P1")
    @DisplayName("what was delivered is still there after the broker has crashed")
    void survivesCrash() {
      PublisherTck.BrokerCrashes broker = tck.fixture(PublisherTck.BrokerCrashes.class);
      List<StoredMessage> messages =
          tck.batch(tck.message("a"), tck.message("b"), tck.message("a"));
      List<Result> results = tck.publish(messages);
      broker.killBroker();
      broker.startBroker();
      List<String> arrived = PublisherTck.ids(tck.received());
      for (int i = 0; i < results.size(); i++) {
        if (results.get(i) instanceof Result.Delivered) {
          assertThat(arrived)
              .as("what the broker has after a crash; message %d was reported delivered", i)
              .contains(PublisherTck.id(messages.get(i)));
        }
      }
    }
  }

  /** P2 and what follows from it. */
  abstract static class OrderTests extends PublisherTests {
    OrderTests(PublisherTck tck) {
      super(tck);
    }

    @Test
    @Rule("P2")
    @DisplayName("messages of a key arrive in their order, call after call")
    void inOrder() {
      List<StoredMessage> all = new ArrayList<>();
      for (int call = 0; call < 5; call++) {
        List<StoredMessage> messages = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
          messages.add(tck.stored(tck.message("k" + i % 7)));
        }
        tck.publishUntilDelivered(messages);
        all.addAll(messages);
      }
      tck.await(r -> r.size() >= all.size());
      assertOrder(all);
    }

    @Test
    @Rule("P2")
    @DisplayName("after a rejected message no later one of its key is delivered in that call")
    void stopsAfterRejected() {
      PublisherTck.BrokerRejects broker = tck.fixture(PublisherTck.BrokerRejects.class);
      assertStopsAfter(broker.rejected(tck.message("bad")), "was rejected");
    }

    @Test
    @Rule("P2")
    @DisplayName("after one to a missing destination no later one of its key is delivered")
    void stopsAfterMissing() {
      PublisherTck.DestinationMissing broker = tck.fixture(PublisherTck.DestinationMissing.class);
      assertStopsAfter(broker.toMissing(tck.message("bad")), "went to a missing destination");
    }

    @Test
    @Rule("P2")
    @DisplayName("with rejected messages anywhere, each key's deliveries stop at its first one")
    void stopsAnywhere() {
      PublisherTck.BrokerRejects broker = tck.fixture(PublisherTck.BrokerRejects.class);
      long seed = Long.getLong("outbox.tck.seed", System.nanoTime());
      Random random = new Random(seed);
      List<StoredMessage> messages = new ArrayList<>();
      Map<String, List<String>> expected = new LinkedHashMap<>();
      Map<String, Boolean> stopped = new LinkedHashMap<>();
      for (int i = 0; i < 200; i++) {
        String key = "k" + random.nextInt(20);
        boolean bad = random.nextInt(10) == 0;
        OutboxMessage.Builder message = tck.message(key);
        StoredMessage stored = tck.stored(bad ? broker.rejected(message) : message);
        messages.add(stored);
        if (!stopped.merge(key, bad, Boolean::logicalOr)) {
          expected.computeIfAbsent(key, k -> new ArrayList<>()).add(PublisherTck.id(stored));
        }
      }
      tck.publish(messages);
      long good = expected.values().stream().mapToLong(List::size).sum();
      Map<String, List<String>> arrived = byKey(tck.await(r -> r.size() >= good));
      assertThat(arrived)
          .as("what arrived of each key, up to its first rejected message; seed %d", seed)
          .isEqualTo(expected);
    }

    private void assertStopsAfter(OutboxMessage.Builder bad, String what) {
      List<StoredMessage> messages =
          tck.batch(
              tck.message("bad"),
              bad,
              tck.message("good"),
              tck.message("bad"),
              tck.message("good"));
      List<Result> results = tck.publish(messages);
      List<String> arrived = PublisherTck.ids(tck.await(r -> r.size() >= 3));
      assertThat(arrived)
          .as("what arrived; the second message %s, and the fourth is of its key", what)
          .doesNotContain(PublisherTck.id(messages.get(3)));
      assertThat(results)
          .as("the results; the second message %s, and the fourth is of its key", what)
          .element(3)
          .isNotInstanceOf(Result.Delivered.class);
    }

    private void assertOrder(List<StoredMessage> sent) {
      Map<String, List<String>> expected = new LinkedHashMap<>();
      for (StoredMessage message : sent) {
        expected
            .computeIfAbsent(message.key(), k -> new ArrayList<>())
            .add(PublisherTck.id(message));
      }
      assertThat(byKey(tck.received()))
          .as("the first deliveries of each key, in the order in which the broker has them")
          .isEqualTo(expected);
    }
  }

  /** The first delivery of each message, by key. */
  static Map<String, List<String>> byKey(List<PublisherTck.Received> received) {
    Map<String, List<String>> byKey = new LinkedHashMap<>();
    for (PublisherTck.Received r : received) {
      List<String> ids = byKey.computeIfAbsent(String.valueOf(r.key()), k -> new ArrayList<>());
      String id = String.valueOf(r.attribute(PublisherTck.Attribute.ID));
      if (!ids.contains(id)) {
        ids.add(id);
      }
    }
    return byKey;
  }
}
