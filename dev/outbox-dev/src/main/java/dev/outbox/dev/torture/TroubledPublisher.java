package dev.outbox.dev.torture;

import dev.outbox.dev.database.Work;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
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
 * <p>Each call has a random of its own, from the seed and the call's number. While the process is
 * calm, only what is wrong with a message itself fails.
 */
final class TroubledPublisher implements MessagePublisher {
  /** Longer than the relay waits. */
  private static final Duration SLOW = Duration.ofSeconds(8);

  private final MessagePublisher publisher;
  private final Child child;
  private final Operator.Repairs repairs;
  private final AtomicLong calls = new AtomicLong();

  TroubledPublisher(MessagePublisher publisher, Child child) {
    this.publisher = publisher;
    this.child = child;
    repairs = new Operator.Repairs(child.directory());
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new Call().publish(messages);
  }

  private final class Call {
    private final long number = calls.incrementAndGet();

    /** Random's first numbers for seeds beside each other are almost the same. */
    private final SplittableRandom random = new SplittableRandom(child.seed() + number);

    List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      child.journal.write(
          "publish", number, Journal.list(messages.stream().map(StoredMessage::sequence)));
      if (chance(0.02, "throws")) {
        throw new IllegalStateException("thrown before anything was delivered");
      }
      String dead =
          chance(0.03, "one-topic-away") ? Work.TOPICS.get(random.nextInt(Work.TOPICS.size())) : "";
      List<Result> results = results(messages, dead);
      if (chance(0.01, "hangs")) {
        Thread.sleep(SLOW.toMillis());
      }
      if (chance(0.02, "throws-late")) {
        throw new IllegalStateException("thrown after some were delivered");
      }
      child.journal.write(
          "results",
          number,
          Journal.list(
              IntStream.range(0, messages.size())
                  .mapToObj(
                      i ->
                          messages.get(i).sequence()
                              + "|"
                              + results.get(i).getClass().getSimpleName())));
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
      Work.Kind kind = Work.Kind.valueOf(message.message().eventType());
      UUID id = message.message().id();
      return switch (kind) {
        case DOOMED -> Result.failed("doomed");
        case POISON, HALTING -> repairs.has(id) ? null : Result.rejected("poison");
        case PLAIN, DELAYED -> chance(0.005, "fails") ? Result.failed("bad luck") : null;
        case TOO_LARGE, EXPIRED -> null;
      };
    }

    private boolean chance(double probability, String trouble) {
      boolean happens = !child.calm && random.nextDouble() < probability;
      if (happens) {
        child.journal.write("trouble", trouble);
      }
      return happens;
    }
  }
}
