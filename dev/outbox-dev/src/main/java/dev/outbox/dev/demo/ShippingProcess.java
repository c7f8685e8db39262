package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.embedded.ChildJvm;
import java.util.function.IntFunction;

/** The consumer's process, and the one that follows each that is killed. */
final class ShippingProcess implements AutoCloseable {
  private final IntFunction<ChildJvm> start;
  private int number;
  private ChildJvm process;

  /**
   * @param start starts the nth
   */
  ShippingProcess(IntFunction<ChildJvm> start) {
    this.start = start;
    process = start.apply(number);
  }

  synchronized void awaitStarted() {
    process.await(DemoShipping.STARTED);
  }

  /** Ends it in the middle of what it does; another one goes on. */
  synchronized void kill() {
    process.close();
    process = start.apply(++number);
  }

  /** Returns when it has shipped all that was published. */
  synchronized void finish() {
    process.send(DemoShipping.END);
    if (process.exitCode() != 0) {
      throw new Failure("the consumer failed; it said: " + process.said());
    }
  }

  @Override
  public synchronized void close() {
    process.close();
  }
}
