package dev.outbox.store.postgres.torture;

import dev.outbox.spi.MessagePublisher;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A broker that keeps the contract and is in all sorts of trouble; what it accepts, it writes into
 * the journal first.
 */
final class FaultyPublisher implements MessagePublisher {
  private static final int CHUNK = 7;

  private final String process;
  private final Journal journal;
  private final long slowMillis;
  private final Random random;
  private volatile boolean calm;
  private volatile long outageUntil;

  /**
   * @param slowMillis longer than the relay waits
   */
  FaultyPublisher(String process, Journal journal, long slowMillis, long seed) {
    this.process = process;
    this.journal = journal;
    this.slowMillis = slowMillis;
    this.random = new Random(seed);
  }

  /** From now on only what is wrong with a message itself fails. */
  void calm() {
    calm = true;
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    Thread.sleep(random.nextInt(5));
    if (chance(0.04, "throws")) {
      throw new IllegalStateException("thrown before anything was delivered");
    }
    if (chance(0.03, "outage")) {
      outageUntil = System.nanoTime() + 300_000_000;
    }
    if (chance(0.005, "hangs")) {
      Thread.sleep(slowMillis);
    }
    int dies = chance(0.05, "throws midway") ? 1 + random.nextInt(messages.size()) : -1;
    String dead = chance(0.05, "destination unavailable") ? "type-" + random.nextInt(3) : "";

    List<Result> results = new ArrayList<>();
    List<Work> accepted = new ArrayList<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : messages) {
      Result result =
          stopped.contains(message.key())
              ? Result.failed("an earlier one of its key was not delivered")
              : result(message, dead);
      if (result instanceof Result.Delivered) {
        accepted.add(Work.of(message.message()));
      } else {
        stopped.add(message.key());
      }
      results.add(result);
      if (accepted.size() == CHUNK || results.size() == messages.size() || results.size() == dies) {
        journal.delivered(process, accepted);
        accepted.clear();
      }
      if (results.size() == dies) {
        throw new IllegalStateException("thrown after some were delivered");
      }
    }
    return results;
  }

  private Result result(StoredMessage message, String dead) {
    Work work = Work.of(message.message());
    if (outageUntil - System.nanoTime() > 0 && !calm) {
      return Result.unavailable("the broker is away");
    }
    if (message.message().aggregateType().equals(dead)) {
      return Result.unavailable(dead + " is away", dead);
    }
    return switch (work.kind()) {
      case DOOMED -> Result.failed("doomed");
      case POISON, HALTING ->
          journal.isRepaired(work.id()) ? Result.delivered() : Result.rejected("poison");
      case PLAIN, DELAYED -> chance(0.02, "fails") ? Result.failed("bad luck") : Result.delivered();
    };
  }

  private boolean chance(double probability, String fault) {
    boolean happens = !calm && random.nextDouble() < probability;
    if (happens) {
      journal.fault(fault);
    }
    return happens;
  }
}
