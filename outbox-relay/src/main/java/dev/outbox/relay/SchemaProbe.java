package dev.outbox.relay;

import dev.outbox.OutboxException;
import dev.outbox.publisher.core.BackgroundTasks;
import dev.outbox.spi.store.Finding;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks a store about its schema, for health checks: whoever probes gives up soon, and a pool may
 * wait for half a minute before it says that the database is away. A question that hangs keeps one
 * thread, however often somebody asks. Safe for use by many threads.
 */
public final class SchemaProbe {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Object store;
  private final Duration patience;
  private @Nullable CompletableFuture<Finding> question;

  public SchemaProbe(Object store) {
    this(store, PATIENCE);
  }

  SchemaProbe(Object store, Duration patience) {
    this.store = store;
    this.patience = patience;
  }

  /** As {@link Diagnosis#schema}, or a problem when the database does not answer in 5 seconds. */
  public Finding ask() {
    return question()
        .thenApply(answer -> answer) // of one's own, to be completed by the timeout
        .completeOnTimeout(
            problem("it does not answer"), patience.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  private synchronized CompletableFuture<Finding> question() {
    if (question == null || question.isDone()) {
      question = BackgroundTasks.call("outbox-health", this::answer);
    }
    return question;
  }

  private Finding answer() {
    try {
      return Diagnosis.schema(store);
    } catch (OutboxException e) {
      return problem(String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      return problem(e.toString());
    }
  }

  private static Finding problem(String sentence) {
    return Finding.problem("database", sentence, null);
  }
}
