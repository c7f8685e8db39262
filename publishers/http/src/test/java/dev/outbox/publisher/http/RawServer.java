package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that answers as no server should. */
final class RawServer implements AutoCloseable {
  final AtomicInteger requests = new AtomicInteger();

  /** Connections that are open, as far as we know. */
  final Set<Socket> connections = ConcurrentHashMap.newKeySet();

  private final ServerSocket server;
  private final Script script;

  /** Answers a request; when it returns true the next one of the connection is read. */
  interface Script {
    boolean answer(int number, OutputStream out) throws IOException;
  }

  private RawServer(Script script) throws IOException {
    this.script = script;
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  static RawServer start(Script script) throws IOException {
    return new RawServer(script);
  }

  /** Writes this text, and then nothing more. */
  static RawServer saying(String text) throws IOException {
    return start(
        (number, out) -> {
          write(out, text);
          return false;
        });
  }

  /** Answers nothing, and keeps its connections until they are closed. */
  static RawServer silent() throws IOException {
    return start((number, out) -> true);
  }

  static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(ISO_8859_1));
    out.flush();
  }

  String url() {
    return "http://localhost:%d/events".formatted(server.getLocalPort());
  }

  private static void start(Runnable runnable) {
    Thread thread = new Thread(runnable, "raw-server");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        connections.add(socket);
        start(() -> serve(socket));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      boolean more = true;
      while (more && readRequest(socket.getInputStream())) {
        more = script.answer(requests.incrementAndGet(), socket.getOutputStream());
      }
    } catch (IOException e) {
      // the client has gone
    } finally {
      connections.remove(socket);
    }
  }

  /** Says whether there was one. */
  private static boolean readRequest(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (!head.toString().endsWith("\r\n\r\n")) {
      int c = in.read();
      if (c < 0) {
        return false;
      }
      head.append((char) c);
    }
    String lower = head.toString().toLowerCase(java.util.Locale.ROOT);
    int at = lower.indexOf("content-length: ");
    if (at >= 0) {
      int end = lower.indexOf('\r', at);
      in.skipNBytes(Long.parseLong(lower.substring(at + 16, end)));
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : connections) {
      socket.close();
    }
  }
}
