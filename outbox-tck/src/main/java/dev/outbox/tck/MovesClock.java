package dev.outbox.tck;

import java.time.Duration;

/** Unlocks the tests of a store's clock that jumps (T1), where a test can move it. */
public interface MovesClock {

  /**
   * Moves the store's clock; negative: back. The next {@link OutboxStoreTck#reset} sets it right.
   */
  void moveClock(Duration by);
}
