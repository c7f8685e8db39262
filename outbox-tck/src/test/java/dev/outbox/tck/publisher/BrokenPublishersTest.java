package dev.outbox.tck.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.Failure;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.publisher.PublisherTck.Received;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineExecutionResults;

/** The suite is worth what it catches. */
class BrokenPublishersTest {

  /** The publisher that {@link Suite} runs on in this thread. */
  private static final ThreadLocal<Class<? extends PublisherInMemory>> PUBLISHER =
      new InheritableThreadLocal<>();

  /** The suite with the least: a publisher's author need not offer more. */
  static class Core extends PublisherTck {
    PublisherBroker broker = new PublisherBroker();

    @Override
    protected MessagePublisher createPublisher() {
      PublisherInMemory publisher = ReflectionSupport.newInstance(PUBLISHER.get());
      publisher.broker = broker;
      return publisher;
    }

    @Override
    protected List<Received> received() {
      return broker.taken();
    }

    @Override
    protected void reset() {
      broker = new PublisherBroker();
    }

    @Override
    protected Duration timeout() {
      return PublisherInMemory.TIMEOUT;
    }

    @Override
    protected Duration patience() {
      return Duration.ofSeconds(5);
    }
  }

  /** The suite with one kind of outage. */
  static class Stops extends Core implements PublisherTck.BrokerStops {
    @Override
    public void stopBroker() {
      broker.stop();
    }

    @Override
    public void startBroker() {
      broker.start();
    }
  }

  /** The suite with everything. */
  static class Suite extends Stops
      implements PublisherTck.BrokerCrashes,
          PublisherTck.BrokerHangs,
          PublisherTck.BrokerRejects,
          PublisherTck.DestinationMissing,
          PublisherTck.DestinationNotDurable,
          PublisherTck.DestinationHangs {

    @Override
    public void killBroker() {
      try {
        broker.crash();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void pauseBroker() {
      broker.hang();
    }

    @Override
    public void resumeBroker() {
      broker.start();
    }

    @Override
    public OutboxMessage.Builder rejected(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.POISON, "");
    }

    @Override
    public OutboxMessage.Builder toMissing(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.MISSING, "");
    }

    @Override
    public OutboxMessage.Builder toNotDurable(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.NOT_DURABLE, "");
    }

    @Override
    public OutboxMessage.Builder toHanging(OutboxMessage.Builder message) {
      return message.header(PublisherBroker.HANGING, "");
    }
  }

  @Test
  @DisplayName("a right publisher passes, so that what fails below is broken")
  void passes() {
    EngineExecutionResults results = run(Suite.class, PublisherInMemory.class);
    assertThat(Failure.of(results)).as("tests that a right publisher fails").isEmpty();
    assertThat(results.testEvents().aborted().count()).as("skipped tests").isZero();
    assertThat(results.testEvents().succeeded().count()).as("tests").isGreaterThan(10);
  }

  /** Tells what came of a message when it is handed over again, as one does that is left (P3). */
  static final class AnswersLate extends PublisherInMemory {
    private final Map<UUID, Result> answers = new ConcurrentHashMap<>();

    @Override
    Result send(StoredMessage message) throws InterruptedException {
      UUID id = message.message().id();
      Result known = answers.remove(id);
      Result now = known == null ? super.send(message) : known;
      if (known != null || now.equals(down())) {
        return now;
      }
      answers.put(id, now);
      return new Result.Unavailable("not answered yet", "a queue", Duration.ZERO);
    }
  }

  @Test
  @DisplayName("a right publisher passes whose answers come late, as on a busy machine")
  void lateAnswers() {
    assertThat(Failure.of(run(Suite.class, AnswersLate.class))).isEmpty();
  }

  @Test
  @DisplayName("without more than the three methods the rest is skipped, and says why")
  void skips() {
    EngineExecutionResults results = run(Core.class, PublisherInMemory.class);
    assertThat(Failure.of(results)).isEmpty();
    assertThat(Failure.aborted(results))
        .isNotEmpty()
        .allMatch(reason -> reason.startsWith("skipped: runs when the test class implements"));
  }

  @Test
  @DisplayName("one kind of outage is enough to see that the broker is not found again")
  void staysAway() {
    assertThat(Failure.of(run(Stops.class, BrokenPublishers.StaysAway.class)))
        .singleElement()
        .asString()
        .contains("P6: [why the broker cannot be reached once it is back]");
  }

  static class ReceivesNothing extends Suite {
    @Override
    protected List<Received> received() {
      return List.of();
    }
  }

  static class ResetsNothing extends Suite {
    @Override
    protected void reset() {}
  }

  @TestFactory
  @DisplayName("what is wrong with a fixture is told by its tests")
  Stream<DynamicTest> wrongFixtures() {
    PUBLISHER.set(PublisherInMemory.class);
    return Failure.eachIsTold(
        Map.of(
            ReceivesNothing.class, "received() has 0 messages after one was published",
            ResetsNothing.class, "received() still has 1 messages after reset()"));
  }

  static class KillHangs extends Suite {
    @Override
    public void killBroker() {
      await(new CountDownLatch(1));
    }

    @Override
    protected Duration patience() {
      return Duration.ofSeconds(1);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  @Timeout(60)
  @DisplayName("a broker that cannot be killed hangs no test")
  void killHangs() {
    assertThat(
            Failure.of(
                run(
                    selectNestedMethod(
                        List.of(KillHangs.class), PublisherTck.Results.class, "crashDuringCall"),
                    PublisherInMemory.class)))
        .singleElement()
        .asString()
        .contains("killBroker() did not return in 1 s");
  }

  /** Waits for a third message, where there are two. */
  static final class FillsBatches extends PublisherInMemory {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = super.publish(messages);
      if (Collections.frequency(results, Result.delivered()) == 2) {
        TimeUnit.HOURS.sleep(1);
      }
      return results;
    }
  }

  @Test
  @Timeout(60)
  @DisplayName("a publish that does not return hangs no test")
  void publishHangs() {
    EngineExecutionResults results =
        run(
            selectNestedMethod(List.of(Suite.class), PublisherTck.Results.class, "resultsStay"),
            FillsBatches.class);
    assertThat(results.testEvents().finished().count()).isEqualTo(1);
  }

  @Test
  @DisplayName("publish is called with one message at least")
  void nothingToPublish() {
    AtomicInteger calls = new AtomicInteger();
    Core suite =
        new Core() {
          @Override
          protected MessagePublisher createPublisher() {
            return messages -> {
              calls.incrementAndGet();
              return List.of();
            };
          }
        };
    PatientPublisher tck = new PatientPublisher(suite, new Patience(), new PublisherFrame());
    tck.prepare();
    assertThat(tck.publishUntilDelivered(List.of())).isNull();
    assertThat(calls).hasValue(0);
  }

  @TestFactory
  @DisplayName("each broken publisher is caught")
  Stream<DynamicTest> caught() {
    return Failure.eachIsCaught(
        BrokenPublishers.class,
        PublisherInMemory.class,
        type -> run(Suite.class, type.asSubclass(PublisherInMemory.class)));
  }

  @Test
  @DisplayName("docs/tck.md quotes what is said to publishers of this set")
  void onThePage() {
    assertThat(Failure.onThePage(BrokenPublishers.class)).hasSize(3);
  }

  private static EngineExecutionResults run(
      Class<?> suite, Class<? extends PublisherInMemory> publisher) {
    return run(selectClass(suite), publisher);
  }

  private static EngineExecutionResults run(
      DiscoverySelector tests, Class<? extends PublisherInMemory> publisher) {
    PUBLISHER.set(publisher);
    return Failure.results(tests);
  }
}
