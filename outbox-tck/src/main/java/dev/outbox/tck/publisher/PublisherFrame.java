package dev.outbox.tck.publisher;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.internal.Frame;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.publisher.PatientPublisher.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.TestInstances;
import org.opentest4j.TestAbortedException;

/** The frame of the suite of publishers, and what one test of a run leaves to the others. */
final class PublisherFrame extends Frame {

  /** Circumstances, for sentences: nothing is wrong. */
  static final String WELL = "while all was well";

  static final String BESIDE_REJECTED = "beside a message that the broker never takes";
  static final String BESIDE_HANGING = "beside a message to a destination that hangs";
  static final String STOPPED = "while the broker was stopped";
  static final String CLOSED = "when the publisher was closed meanwhile";

  private final Map<String, Outage> outages = new HashMap<>();
  private final Set<String> unknown = new HashSet<>();

  /** In these circumstances publish is known not to return. */
  final Set<String> hung = ConcurrentHashMap.newKeySet();

  /** The outage of these circumstances, which happens when it is first asked for. */
  Outage outage(String when, Supplier<Outage> happens) {
    Outage known = outages.get(when);
    if (known != null) {
      return known;
    }
    if (!unknown.add(when)) {
      throw new TestAbortedException(
          "skipped: a test before this one failed to find out what happens " + when);
    }
    Outage outage = happens.get();
    outages.put(when, outage);
    return outage;
  }

  @Override
  protected Tested tested(TestInstances tests, Patience patience) {
    PublisherTck fixture = tests.findInstance(PublisherTck.class).orElseThrow();
    PatientPublisher tck = new PatientPublisher(fixture, patience, this);
    tests.findInstance(PublisherTests.class).ifPresent(test -> test.tck = tck);
    return tck;
  }

  /**
   * What a publisher did while its broker was away, and afterwards. It takes seconds, so it happens
   * once in a run, and several tests ask about it.
   *
   * @param during the one call while the broker was away
   * @param hung that a call, of any of the three publishers, did not return; null when all did
   * @param asked what came of asking the publisher for its broker; null when it cannot be asked
   * @param closing why one of two other publishers, which published at the same time, could not be
   *     closed while the broker was away; null when both could
   * @param late why not all was delivered afterwards; null when it was
   * @param back what came of asking again then; null when it cannot be asked
   * @param arrived the ids of what came in the end
   */
  record Outage(
      Published during,
      @Nullable String hung,
      @Nullable Asked asked,
      @Nullable String closing,
      @Nullable String late,
      @Nullable Asked back,
      List<String> arrived) {
    private static final int MESSAGES = 40;
    private static final int KEYS = 20;

    /** Together more than a connection's buffers, so that writing waits for the broker. */
    private static final int LARGE_MESSAGES = 20;

    /** How long the publisher may take to say that it does not reach its broker. */
    static final Duration TO_ASK = Duration.ofSeconds(1);

    /**
     * Lets it happen.
     *
     * @param when as "while the broker was stopped"
     */
    static Outage happen(PatientPublisher tck, String when, Runnable begin, Runnable end) {
      MessagePublisher publisher = tck.publisher();
      MessagePublisher second = tck.create();
      MessagePublisher third = tck.create();
      List<Published> calls = new ArrayList<>();
      for (MessagePublisher one : List.of(publisher, second, third)) {
        calls.add(tck.start(one, WELL, tck.batch(tck.message("warm"))).await());
      }
      List<StoredMessage> messages = tck.many(MESSAGES, "k", KEYS);
      byte[] payload = new byte[OutboxMessage.MAX_PAYLOAD];
      List<StoredMessage> large =
          IntStream.range(0, LARGE_MESSAGES)
              .mapToObj(i -> tck.stored(tck.message("large" + i).payload(payload)))
              .toList();
      Published during;
      Asked asked = null;
      String closing;
      begin.run();
      try {
        PatientPublisher.Publishing beside =
            tck.start(second, when, tck.batch(tck.message("a"), tck.message("b")));
        PatientPublisher.Publishing much =
            tck.start(third, when + ", and 20 MB were to be sent", large);
        during = tck.start(publisher, when, messages).await();
        calls.addAll(List.of(during, beside.await()));
        if (publisher.address() != null) {
          asked = tck.ask(TO_ASK);
        }
        closing = tck.close(second);
        calls.add(much.await());
        String closingThird = tck.close(third);
        closing = closing != null ? closing : closingThird;
      } finally {
        end.run();
      }
      String late = during.hung() == null ? tck.publishUntilDelivered(messages) : null;
      Asked back = asked == null || asked.wrong() != null ? asked : tck.askUntilReached();
      String hung =
          calls.stream().map(Published::hung).filter(Objects::nonNull).findFirst().orElse(null);
      Set<String> expected = messages.stream().map(Published::id).collect(Collectors.toSet());
      List<String> arrived =
          PatientPublisher.ids(
              during.hung() != null || late != null
                  ? tck.receive()
                  : tck.await(r -> PatientPublisher.ids(r).containsAll(expected)));
      return new Outage(during, hung, asked, closing, late, back, arrived);
    }
  }
}
