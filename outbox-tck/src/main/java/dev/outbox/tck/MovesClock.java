package dev.outbox.tck;

import dev.outbox.tck.store.OutboxStoreTck;
import java.time.Duration;

/** Unlocks the tests of a store's clock that jumps (T1), where a test can move it. */
public interface MovesClock {

  /**
   * Moves the store's clock; negative: back. Where the clock stands still and the times that are
   * compared with it move instead, the times of append move too; but the time of a message that is
   * due may be what the store knows it by while it is claimed, and stays as it is when the clock
   * moves on. The next {@link OutboxStoreTck#reset} sets it right.
   */
  void moveClock(Duration by);
}
