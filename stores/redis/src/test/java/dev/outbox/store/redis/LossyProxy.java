package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.outbox.embedded.TcpProxy;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Stands between clients and a server, and can do something to one request or reply. */
final class LossyProxy implements AutoCloseable {
  private final AtomicReference<Fault> next = new AtomicReference<>();
  private final Semaphore stalled = new Semaphore(0);
  private final Semaphore goOn = new Semaphore(0);
  private final TcpProxy proxy =
      new TcpProxy(0, (link, fromServer, bytes, n) -> isUnknown(bytes, n) || !happens(fromServer));

  enum Fault {
    /** The connection breaks before the server has the request. */
    LOSE_REQUEST,

    /** The connection breaks when the server has carried it out. */
    LOSE_REPLY,

    /** The client hears nothing until {@link #goOn}. */
    STALL_REPLY
  }

  LossyProxy(String host, int port) throws IOException {
    proxy.target(host, port);
  }

  int port() {
    return proxy.port();
  }

  /**
   * What happens to the next request or reply, unless that says that a script is not known; null:
   * nothing.
   */
  void next(@Nullable Fault fault) {
    next.set(fault);
  }

  /** Whether it has happened; it does not any more. */
  boolean hasHappened() {
    return next.getAndSet(null) == null;
  }

  void awaitStalled() throws InterruptedException {
    stalled.acquire();
  }

  /** Ends a connection that stalls. */
  void goOn() {
    goOn.release();
  }

  /** That a script is not known: the client sends it then. */
  private static boolean isUnknown(byte[] bytes, int n) {
    return new String(bytes, 0, n, US_ASCII).startsWith("-NOSCRIPT");
  }

  private boolean happens(boolean reply) {
    if (!reply) {
      return next.compareAndSet(Fault.LOSE_REQUEST, null);
    }
    if (next.compareAndSet(Fault.STALL_REPLY, null)) {
      stalled.release();
      goOn.acquireUninterruptibly();
      return true;
    }
    return next.compareAndSet(Fault.LOSE_REPLY, null);
  }

  @Override
  public void close() throws IOException {
    proxy.close();
  }
}
