package dev.outbox.store.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

/** Stands between clients and a server, and can do something to one request or reply. */
final class LossyProxy implements AutoCloseable {
  private static final int SIZE = 64 * 1024;

  private final ServerSocket listening;
  private final String host;
  private final int port;
  private final AtomicReference<Fault> next = new AtomicReference<>();
  private final Semaphore stalled = new Semaphore(0);
  private final Semaphore goOn = new Semaphore(0);

  enum Fault {
    /** The connection breaks before the server has the request. */
    LOSE_REQUEST,

    /** The connection breaks when the server has carried it out. */
    LOSE_REPLY,

    /** The client hears nothing until {@link #goOn}. */
    STALL_REPLY
  }

  LossyProxy(String host, int port) throws IOException {
    this.host = host;
    this.port = port;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** What happens to the next request or reply, unless that says that a script is not known. */
  void next(Fault fault) {
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

  private interface Loop {
    void run() throws IOException;
  }

  private static void start(Loop loop) {
    Thread thread =
        new Thread(
            () -> {
              try {
                loop.run();
              } catch (IOException e) {
                // one of both has gone
              }
            },
            "proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listening.accept();
      start(() -> connect(client));
    }
  }

  /** While the server is down the client's connection ends, and the next is taken. */
  private void connect(Socket client) throws IOException {
    Socket server;
    try {
      server = new Socket(host, port);
    } catch (IOException e) {
      client.close();
      throw e;
    }
    client.setTcpNoDelay(true);
    server.setTcpNoDelay(true);
    start(() -> pump(server, client, true));
    pump(client, server, false);
  }

  private void pump(Socket from, Socket to, boolean replies) throws IOException {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[SIZE];
      for (int n = in.read(bytes); n > 0; n = in.read(bytes)) {
        boolean unknown = new String(bytes, 0, n, US_ASCII).startsWith("-NOSCRIPT");
        if (!unknown && happens(replies)) {
          return;
        }
        out.write(bytes, 0, n);
      }
    }
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
    listening.close();
  }
}
