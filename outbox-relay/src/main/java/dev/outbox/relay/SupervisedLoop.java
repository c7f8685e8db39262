package dev.outbox.relay;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a task again and again, whatever it throws. What it throws is told; where telling throws
 * too, because memory is used up for example, it is told before the next run. For one thread.
 */
final class SupervisedLoop {

  /** What is done; it may also throw what it does not declare. */
  interface Task {
    void run() throws Exception;
  }

  private final Task task;
  private final Consumer<RuntimeException> teller;
  private @Nullable Throwable untold;

  SupervisedLoop(Task task, Consumer<RuntimeException> teller) {
    this.task = task;
    this.teller = teller;
  }

  static RuntimeException asRuntimeException(Throwable e) {
    return e instanceof RuntimeException r ? r : new IllegalStateException(e);
  }

  /** Returns false when the task threw. Does not throw, and makes nothing that could. */
  boolean again() {
    tell();
    try {
      task.run();
      return true;
    } catch (Throwable e) {
      untold = e;
      tell();
      return false;
    }
  }

  private void tell() {
    if (untold != null) {
      try {
        teller.accept(asRuntimeException(untold));
        untold = null;
      } catch (Throwable e) {
        // As good as nothing works at this moment: the next time.
      }
    }
  }
}
