package dev.outbox.store.postgres.torture;

import java.io.IOException;
import java.time.Duration;
import java.util.Random;

/**
 * Stops this whole process by SIGSTOP at chosen places, for longer than the lease, at random. Who
 * continues it is a process that then ends.
 */
final class Stops {
  private static final double AT_A_STATEMENT = 0.005;
  private static final double BEFORE_SETTLE = 0.05;

  private final Journal journal;
  private final Duration lease;
  private final Random random;
  private volatile boolean calm;

  Stops(Journal journal, Duration lease, long seed) {
    this.journal = journal;
    this.lease = lease;
    this.random = new Random(seed);
  }

  /** No more of them. */
  void calm() {
    calm = true;
  }

  /** Inside the transactions of claim, renew and settle. */
  void atStatement(String method) {
    if (method.equals("prepareStatement") || method.equals("commit")) {
      perhaps(AT_A_STATEMENT, "SIGSTOP in a transaction");
    }
  }

  /** With all results there. */
  void beforeSettle() {
    perhaps(BEFORE_SETTLE, "SIGSTOP before settle");
  }

  private void perhaps(double probability, String fault) {
    if (!calm && random.nextDouble() < probability) {
      journal.fault(fault);
      double seconds = lease.toMillis() / 1000.0 * (1.3 + random.nextDouble());
      String script = "kill -STOP $1; sleep $2; kill -CONT $1";
      String pid = Long.toString(ProcessHandle.current().pid());
      try {
        new ProcessBuilder("sh", "-c", script, "sh", pid, Double.toString(seconds))
            .start()
            .waitFor();
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
