package dev.outbox.tck.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.tck.FailsOnConflict;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/** A caller's transaction that stays open, in a thread of its own, until it is told to end. */
public final class OpenWork<T> implements AutoCloseable {
  private final Patient<T, ?> tck;
  private final LinkedBlockingQueue<Consumer<T>> work = new LinkedBlockingQueue<>();
  private final CompletableFuture<Boolean> ended;

  /** In the eyes of its own thread. */
  private boolean isOpen = true;

  private boolean commits;

  public OpenWork(Patient<T, ?> tck) {
    this.tck = tck;
    ended = new InThread<>("open transaction", this::run);
  }

  private boolean run() {
    try {
      tck.inTransaction(this::work);
    } catch (Patient.RollBack e) {
      // as it was told
    }
    return commits;
  }

  private void work(T transaction) {
    try {
      while (isOpen) {
        work.take().accept(transaction);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    if (!commits) {
      throw new Patient.RollBack();
    }
  }

  /**
   * Does something in the transaction.
   *
   * @param what for the failure: this did not return
   */
  public <R> R call(String what, Function<T, R> action) {
    return get(what, start(action));
  }

  private <R> CompletableFuture<R> start(Function<T, R> action) {
    CompletableFuture<R> result = new CompletableFuture<>();
    work.add(
        t -> {
          try {
            result.complete(action.apply(t));
          } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
            throw e;
          }
        });
    return result;
  }

  /** Begins what has to wait for another transaction, and gives it time to end without. */
  public <R> CompletableFuture<R> startWaiting(Function<T, R> action) {
    CompletableFuture<Boolean> begun = new CompletableFuture<>();
    CompletableFuture<R> result =
        start(
            t -> {
              begun.complete(true);
              return action.apply(t);
            });
    get("the beginning", begun);
    tck.giveTime(result);
    return result;
  }

  public void commit() {
    end(true);
  }

  public void rollback() {
    end(false);
  }

  public void end(boolean commit) {
    work.add(
        t -> {
          isOpen = false;
          commits = commit;
        });
    get(commit ? "commit" : "rollback", ended);
  }

  public <R> R get(String what, CompletableFuture<R> future) {
    Duration patience = tck.patience();
    try {
      return new Deadline(patience).get(future);
    } catch (TimeoutException e) {
      tck.waits().waitedInVain();
      throw new AssertionError(
          "%s did not return in %s, in a transaction beside others"
              .formatted(what, Patience.seconds(patience)),
          e);
    } catch (ExecutionException e) {
      throw new AssertionError("%s threw %s".formatted(what, e.getCause()), e.getCause());
    }
  }

  /** That the work fails, where the database cannot wait, and says that it is to run again. */
  public void assertToRunAgain(String what, CompletableFuture<?> started) {
    FailsOnConflict fixture = tck.fixture(FailsOnConflict.class);
    Throwable failure = get(what, started.handle((done, failed) -> failed));
    assertThat(failure)
        .as("%s that meets the key of another open transaction, and cannot wait", what)
        .isNotNull()
        .matches(fixture::isToRunAgain, "says that the whole transaction has to run again");
    Throwable end = get("the end", ended.handle((committed, failed) -> failed));
    assertThat(end).as("how a transaction ended whose work failed").isNotNull();
  }

  /** Rolls back unless it ended, and waits for that. */
  @Override
  public void close() {
    if (!ended.isDone()) {
      rollback();
    }
  }
}
