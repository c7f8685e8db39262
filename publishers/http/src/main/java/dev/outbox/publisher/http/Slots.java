package dev.outbox.publisher.http;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How many requests are on their way to one origin; the others wait in line. At first it is one,
 * and one more for each answer, up to the most. Otherwise each of the first requests would open a
 * connection: with HTTP/2, where one is enough, all but one of these handshakes would be in vain.
 */
final class Slots {
  /** After this the connections may be closed. */
  static final Duration IDLE = Duration.ofSeconds(5);

  private final int most;
  private final Queue<BooleanSupplier> line = new ArrayDeque<>();
  private int allowed = 1;
  private int taken;
  private long used = System.nanoTime();

  Slots(int most) {
    this.most = most;
  }

  /**
   * Runs it once a slot is free, in this thread or in that of whoever frees one.
   *
   * @param user says whether it uses the slot; it then calls {@link #free} in the end
   */
  void ask(BooleanSupplier user) {
    synchronized (this) {
      if (isIdle() && System.nanoTime() - used > IDLE.toNanos()) {
        allowed = 1;
      }
      line.add(user);
    }
    serve();
  }

  /**
   * Gives a slot back.
   *
   * @param answered whether the origin answered
   */
  void free(boolean answered) {
    synchronized (this) {
      allowed = answered ? Math.min(most, allowed + 1) : 1;
      used = System.nanoTime();
    }
    giveBack();
    serve();
  }

  synchronized boolean isIdle() {
    return taken == 0 && line.isEmpty();
  }

  private synchronized void giveBack() {
    taken--;
  }

  private void serve() {
    for (BooleanSupplier user = next(); user != null; user = next()) {
      if (!user.getAsBoolean()) {
        giveBack();
      }
    }
  }

  private synchronized @Nullable BooleanSupplier next() {
    if (taken >= allowed || line.isEmpty()) {
      return null;
    }
    taken++;
    return line.remove();
  }
}
