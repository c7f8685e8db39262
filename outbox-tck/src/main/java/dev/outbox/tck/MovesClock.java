package dev.outbox.tck;

import dev.outbox.tck.store.OutboxStoreTck;
import java.time.Duration;

/** Unlocks the tests of a store's clock that jumps (T1), where a test can move it. */
public interface MovesClock {

  /**
   * Moves the store's clock; negative: back. A fixture may leave the clock alone and move the times
   * that are compared with it. Then it moves the times of append too. When the clock is to move on,
   * it leaves the time of a message that is due as it is: the store may know the message by it
   * while it is claimed. The next {@link OutboxStoreTck#reset} sets it right.
   */
  void moveClock(Duration by);
}
