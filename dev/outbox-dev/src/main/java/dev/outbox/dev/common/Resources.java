package dev.outbox.dev.common;

import dev.outbox.cli.Cleanup;
import dev.outbox.cli.Secrets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What is open; closed in reverse order, once, and at once when closing has begun already. */
public final class Resources implements AutoCloseable {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private boolean closed;

  public <C extends AutoCloseable> C add(C resource) {
    synchronized (open) {
      if (!closed) {
        open.push(resource);
        return resource;
      }
    }
    close(resource);
    return resource;
  }

  @Override
  public void close() {
    List<AutoCloseable> closing;
    synchronized (open) {
      closed = true;
      closing = List.copyOf(open);
      open.clear();
    }
    closing.forEach(Resources::close);
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
