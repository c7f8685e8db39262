package dev.outbox.embedded;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between clients on 127.0.0.1 and a server, and can do to their connections what networks
 * do. Safe for use by many threads.
 */
public final class TcpProxy implements AutoCloseable {
  private static final int CHUNK = 16 * 1024;
  private static final int CONNECT_MILLIS = 2_000;

  private final ServerSocket listener;
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final int receiveBuffer;
  private final Watch watch;
  private volatile InetSocketAddress target =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  /** Sees what goes through; the thread that calls it passes nothing else meanwhile. */
  public interface Watch {
    /**
     * Says whether bytes may pass; else their connection is cut.
     *
     * @param bytes of which the first {@code n} count
     */
    boolean passes(Link link, boolean fromServer, byte[] bytes, int n);
  }

  public TcpProxy() throws IOException {
    this(0, (link, fromServer, bytes, n) -> true);
  }

  /**
   * @param receiveBuffer for what the server sends and nobody takes, in bytes; 0: the system's
   */
  public TcpProxy(int receiveBuffer, Watch watch) throws IOException {
    this.receiveBuffer = receiveBuffer;
    this.watch = watch;
    listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    start("proxy-" + port(), this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** To which port of 127.0.0.1 connections lead; without one they are closed at once. */
  public void target(int port) {
    target = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** The same on another host. */
  public void target(String host, int port) {
    target = new InetSocketAddress(host, port);
  }

  /** Those that are open now. */
  public List<Link> links() {
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
      if (receiveBuffer > 0) {
        server.setReceiveBufferSize(receiveBuffer);
      }
      server.connect(target, CONNECT_MILLIS);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    } catch (IOException e) {
      close(client);
      close(server);
      return;
    }
    Link link = new Link(client, server);
    links.add(link);
    start("proxy-up", () -> link.pump(false));
    link.pump(true);
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void close(Closeable socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // as good as closed
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    links.forEach(Link::cut);
  }

  /** One connection, with its two directions. */
  public final class Link {
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
    public void cut() {
      for (Socket socket : List.of(client, server)) {
        try {
          socket.setSoLinger(true, 0);
        } catch (IOException e) {
          // closed already
        }
        close(socket);
      }
      links.remove(this);
    }

    /** No byte gets through, in either direction, until it is healed. */
    public void stall() {
      stalled = true;
    }

    /** So much gets through in each direction, until it is healed. */
    public void slow(int bytesPerSecond) {
      this.bytesPerSecond = bytesPerSecond;
    }

    /**
     * One end is told that the other sends no more; what it sends itself still gets through, until
     * it closes.
     */
    public void halfClose(boolean towardServer) {
      try {
        (towardServer ? server : client).shutdownOutput();
      } catch (IOException e) {
        // closed already
      }
    }

    public void heal() {
      stalled = false;
      bytesPerSecond = 0;
    }

    private void pump(boolean fromServer) {
      Socket from = fromServer ? server : client;
      Socket to = fromServer ? client : server;
      byte[] chunk = new byte[CHUNK];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
          if (!watch.passes(this, fromServer, chunk, n)) {
            cut();
            return;
          }
          delay(n);
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

    private void delay(int bytes) throws InterruptedException {
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
