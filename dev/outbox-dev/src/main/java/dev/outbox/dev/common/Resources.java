package dev.outbox.dev.common;

import dev.outbox.cli.Cleanup;
import dev.outbox.cli.Secrets;
import java.util.ArrayDeque;
import java.util.Deque;

/** What is open; closed in reverse order, once, and at once when closing has begun already. */
public final class Resources {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private boolean closed;

  public <C extends AutoCloseable> C add(C resource) {
    boolean late;
    synchronized (open) {
      late = closed;
      if (!late) {
        open.push(resource);
      }
    }
    if (late) {
      close(resource);
    }
    return resource;
  }

  public void closeAll() {
    while (true) {
      AutoCloseable next;
      synchronized (open) {
        closed = true;
        next = open.poll();
      }
      if (next == null) {
        return;
      }
      close(next);
    }
  }

  private static void close(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception e) {
      if (!Cleanup.interrupted()) {
        System.err.println("outbox: " + Secrets.mask(String.valueOf(e.getMessage())));
      }
    }
  }
}
