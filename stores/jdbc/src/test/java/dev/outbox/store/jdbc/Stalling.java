package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.TransientOutboxException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * A data source of which one client can be made to stop inside a transaction: it sends nothing any
 * more, as one that got SIGSTOP, or whose host is gone.
 */
public final class Stalling {
  private final DataSource target;
  private final ThreadLocal<Stop> stop = new ThreadLocal<>();

  public Stalling(DataSource target) {
    this.target = target;
  }

  public DataSource dataSource() {
    return Intercepted.rewriting(
        target,
        sql -> {
          Stop here = stop.get();
          if (here != null && sql.contains(here.at)) {
            here.now();
          }
          return sql;
        });
  }

  /**
   * Runs {@code work} in a thread of its own until it is about to run a statement that contains
   * {@code at}. Closing the result lets it go on, into whatever the server says by then: the client
   * comes to its end all the same, or may try again.
   */
  public AutoCloseable stopAt(String at, Runnable work) {
    Stop here = new Stop(at);
    CompletableFuture<Void> end =
        CompletableFuture.runAsync(
            () -> {
              stop.set(here);
              work.run();
            },
            command -> new Thread(command, "stalled client").start());
    CompletableFuture.anyOf(here.reached, end).join();
    if (end.isDone()) {
      throw new IllegalStateException("the client came to no statement with " + at);
    }
    return () -> {
      here.goOn.complete(null);
      try {
        end.get(1, TimeUnit.MINUTES);
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(TransientOutboxException.class);
      }
    };
  }

  private static final class Stop {
    private final String at;
    private final CompletableFuture<Void> reached = new CompletableFuture<>();
    private final CompletableFuture<Void> goOn = new CompletableFuture<>();

    Stop(String at) {
      this.at = at;
    }

    void now() {
      reached.complete(null);
      goOn.join();
    }
  }
}
