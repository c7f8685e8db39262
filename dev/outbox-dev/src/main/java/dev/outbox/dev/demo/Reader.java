package dev.outbox.dev.demo;

import dev.outbox.cli.Failure;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.broker.Source.Received;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads everything from the broker, on a thread of its own, and tells the ledger. */
final class Reader implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Source source;
  private final Ledger ledger;
  private final Thread thread = new Thread(this::run, "reader");
  private volatile boolean toTheEnd;
  private volatile @Nullable Throwable failure;

  Reader(Source source, Ledger ledger) {
    this.source = source;
    this.ledger = ledger;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Returns when all that is in the broker by now was read. */
  void readToTheEnd() throws InterruptedException {
    toTheEnd = true;
    thread.join(PATIENCE.toMillis());
    if (thread.isAlive()) {
      throw new Failure(
          "the consumer did not reach the end of what was published within " + PATIENCE);
    }
    Throwable e = failure;
    if (e != null) {
      throw new Failure("the consumer failed: " + e.getMessage(), e);
    }
  }

  private void run() {
    try (source) {
      source.read(() -> toTheEnd, this::tell);
    } catch (RuntimeException | InterruptedException e) {
      failure = e;
    }
  }

  private void tell(Received message) {
    ledger.delivered(message.id(), message.key(), System.nanoTime());
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join(Duration.ofSeconds(5).toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
