package dev.outbox.dev.torture;

import dev.outbox.dev.database.Work;
import dev.outbox.dev.database.Work.Kind;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * In front of the real publisher: what is wrong with messages themselves, and trouble that a broker
 * does not make often enough by itself. It writes down what was tried and what came of it.
 *
 * <pre>
 *   publish NUMBER SEQUENCE,…
 *   results NUMBER SEQUENCE|Delivered,…     or Failed, Rejected, Unavailable
 *   trouble WHAT
 * </pre>
 *
 * <p>Each call has a random of its own, from the seed and the call's number.
 *
 * @param slowMillis longer than the relay waits
 */
final class TroubledPublisher implements MessagePublisher {
  private final MessagePublisher publisher;
  private final Journal journal;
  private final Repairs repairs;
  private final long slowMillis;
  private final long seed;
  private final AtomicLong calls = new AtomicLong();
  private volatile boolean calm;

  TroubledPublisher(
      MessagePublisher publisher, Journal journal, Repairs repairs, long slowMillis, long seed) {
    this.publisher = publisher;
    this.journal = journal;
    this.repairs = repairs;
    this.slowMillis = slowMillis;
    this.seed = seed;
  }

  /** Only what is wrong with a message itself fails while it is calm. */
  void calm(boolean calm) {
    this.calm = calm;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new Call(calls.incrementAndGet()).publish(messages);
  }

  @Override
  public void close() {
    publisher.close();
  }

  private final class Call {
    private final long number;
    private final Random random;

    private Call(long number) {
      this.number = number;
      random = new Random(seed + number);
    }

    List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      journal.write(
          "publish", number, Journal.list(messages.stream().map(StoredMessage::sequence)));
      if (chance(0.02, "throws")) {
        throw new IllegalStateException("thrown before anything was delivered");
      }
      String dead =
          chance(0.03, "one-topic-away") ? Work.TOPICS.get(random.nextInt(Work.TOPICS.size())) : "";
      List<Result> results = results(messages, dead);
      if (chance(0.01, "hangs")) {
        Thread.sleep(slowMillis);
      }
      if (chance(0.02, "throws-late")) {
        throw new IllegalStateException("thrown after some were delivered");
      }
      journal.write(
          "results",
          number,
          Journal.list(
              IntStream.range(0, messages.size())
                  .mapToObj(i -> messages.get(i).sequence() + "|" + name(results.get(i)))));
      return results;
    }

    /** Those that nothing is wrong with are what the real publisher says. */
    private List<Result> results(List<StoredMessage> messages, String dead)
        throws InterruptedException {
      List<@Nullable Result> refused = new ArrayList<>();
      List<StoredMessage> passed = new ArrayList<>();
      Set<String> stopped = new HashSet<>();
      for (StoredMessage message : messages) {
        Result refusal =
            stopped.contains(message.key())
                ? Result.failed("an earlier one of its key was not delivered")
                : refusal(message, dead);
        if (refusal == null) {
          passed.add(message);
        } else {
          stopped.add(message.key());
        }
        refused.add(refusal);
      }
      Iterator<Result> real =
          (passed.isEmpty() ? List.<Result>of() : publisher.publish(passed)).iterator();
      return refused.stream().map(result -> result != null ? result : real.next()).toList();
    }

    private @Nullable Result refusal(StoredMessage message, String dead) {
      if (message.message().aggregateType().equals(dead)) {
        return Result.unavailable(dead + " is away", dead);
      }
      Kind kind = Kind.valueOf(message.message().eventType());
      UUID id = message.message().id();
      return switch (kind) {
        case DOOMED -> Result.failed("doomed");
        case POISON, HALTING -> repairs.has(id) ? null : Result.rejected("poison");
        case PLAIN, DELAYED -> chance(0.005, "fails") ? Result.failed("bad luck") : null;
        case TOO_LARGE, EXPIRED -> null;
      };
    }

    private boolean chance(double probability, String trouble) {
      boolean happens = !calm && random.nextDouble() < probability;
      if (happens) {
        journal.write("trouble", trouble);
      }
      return happens;
    }
  }

  private static String name(Result result) {
    return result.getClass().getSimpleName();
  }
}
