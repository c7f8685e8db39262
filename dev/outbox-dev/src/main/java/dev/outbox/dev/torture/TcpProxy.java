package dev.outbox.dev.torture;

import dev.outbox.dev.database.Exhaustion;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between clients and a server on 127.0.0.1, and can do to their connections what networks
 * do. Safe for use by many threads.
 */
final class TcpProxy implements AutoCloseable {
  private static final int CHUNK = 16 * 1024;
  private static final int CONNECT_MILLIS = 2_000;

  private final ServerSocket listener;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private volatile int target;

  TcpProxy() {
    try {
      listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException("the proxy has no port", e);
    }
    start("proxy-" + port(), this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** To which port connections lead; without one they are closed at once. */
  void target(int port) {
    target = port;
  }

  /** Those that are open now. */
  List<Link> links() {
    return List.copyOf(links);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        start("proxy-link", () -> connect(client));
      } catch (IOException e) {
        // closed, or a client that was gone before it was accepted
      }
    }
  }

  private void connect(Socket client) {
    Socket server = new Socket();
    try {
      server.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), target), CONNECT_MILLIS);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    } catch (IOException | IllegalArgumentException e) {
      Exhaustion.close(client);
      Exhaustion.close(server);
      return;
    }
    Link link = new Link(client, server);
    links.add(link);
    start("proxy-up", () -> link.pump(client, server));
    link.pump(server, client);
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    Exhaustion.close(listener);
    links.forEach(Link::cut);
  }

  /** One connection, with its two directions. */
  final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean stalled;
    private volatile int bytesPerSecond;
    private final AtomicInteger ended = new AtomicInteger();

    private Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    /** Both ends see a reset. */
    void cut() {
      for (Socket socket : List.of(client, server)) {
        try {
          socket.setSoLinger(true, 0);
        } catch (IOException e) {
          // closed already
        }
        Exhaustion.close(socket);
      }
      links.remove(this);
    }

    /** No byte gets through, in either direction, until it is healed. */
    void stall() {
      stalled = true;
    }

    /** So much gets through in each direction, until it is healed. */
    void slow(int bytesPerSecond) {
      this.bytesPerSecond = bytesPerSecond;
    }

    /**
     * One end is told that the other sends no more; what it sends itself still gets through, until
     * it closes.
     */
    void halfClose(boolean towardServer) {
      try {
        (towardServer ? server : client).shutdownOutput();
      } catch (IOException e) {
        // closed already
      }
    }

    void heal() {
      stalled = false;
      bytesPerSecond = 0;
    }

    private void pump(Socket from, Socket to) {
      byte[] chunk = new byte[CHUNK];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
          pass(n);
          if (!to.isOutputShutdown()) {
            out.write(chunk, 0, n);
          }
        }
        to.shutdownOutput();
      } catch (IOException | InterruptedException e) {
        cut();
      }
      if (ended.incrementAndGet() == 2) {
        cut();
      }
    }

    private void pass(int bytes) throws InterruptedException {
      int rate = bytesPerSecond;
      if (rate > 0) {
        Thread.sleep(1 + 1_000L * bytes / rate);
      }
      while (stalled && links.contains(this)) {
        Thread.sleep(10);
      }
    }
  }
}
