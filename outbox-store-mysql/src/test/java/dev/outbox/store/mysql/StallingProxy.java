package dev.outbox.store.mysql;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Stands between a client and its server, and at some time takes nothing from the server any more:
 * as a client that is stopped while a large result is on its way.
 */
final class StallingProxy implements AutoCloseable {

  /** So small that what the server sends does not disappear in it. */
  private static final int BUFFER = 16_384;

  private final ServerSocket listener;
  private final int server;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Void> stalled = new CompletableFuture<>();
  private final CompletableFuture<Void> goOn = new CompletableFuture<>();
  private volatile long left = Long.MAX_VALUE;

  /**
   * @param server its port on 127.0.0.1
   */
  StallingProxy(int server) throws IOException {
    this.server = server;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** From now on only so many bytes come from the server. */
  void stallAfter(long bytes) {
    left = bytes;
  }

  /** Complete when it takes nothing any more. */
  CompletableFuture<Void> stalled() {
    return stalled;
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "stalling proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket target = new Socket();
        target.setReceiveBufferSize(BUFFER);
        target.connect(new InetSocketAddress(listener.getInetAddress(), server));
        sockets.addAll(List.of(client, target));
        start(() -> pump(client, target, false));
        start(() -> pump(target, client, true));
      }
    } catch (IOException e) {
      if (!listener.isClosed()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void pump(Socket from, Socket to, boolean stalls) {
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      for (int read; (read = in.read(buffer)) >= 0; ) {
        out.write(buffer, 0, read);
        if (stalls) {
          left -= read;
          if (left <= 0) {
            stalled.complete(null);
            goOn.join();
          }
        }
      }
    } catch (IOException over) {
      // One side has ended the connection; closing both streams tells the other.
    }
  }

  @Override
  public void close() throws IOException {
    goOn.complete(null);
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
