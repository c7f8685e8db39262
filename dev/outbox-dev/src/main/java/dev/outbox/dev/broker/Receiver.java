package dev.outbox.dev.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.ParentJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Receives CloudEvents, in a process of its own: appends each to a file, as "ID KEY PAYLOAD", and
 * answers when it is on the disk; a crash loses nothing that was acknowledged. Without a file it
 * only counts them. Asked anything by its parent, it says how many there were.
 */
final class Receiver {
  static final String PORT = "port";
  static final String FILE = "file";
  static final String STARTED = "started";

  /** The parts of a line; not in the first two, which are percent-encoded. */
  static final String BETWEEN = "\t";

  static final int NO_CONTENT = 204;
  private static final int BAD_REQUEST = 400;
  private static final int NO_BODY = -1;

  private final @Nullable FileChannel file;
  private final Object writing = new Object();
  private StringBuilder waiting = new StringBuilder();
  private long appended;
  private long durable;

  private Receiver(@Nullable FileChannel file) {
    this.file = file;
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    ParentJvm parent = ParentJvm.connect();
    String path = parent.get(FILE);
    Receiver receiver = new Receiver(path.isEmpty() ? null : open(path));
    int port = Integer.parseInt(parent.get(PORT));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", receiver::handle);
    server.start();
    parent.say(STARTED);
    while (!parent.command().isEmpty()) {
      parent.say("" + receiver.arrived());
    }
  }

  private synchronized long arrived() {
    return appended;
  }

  /** A crash may have left a part of a line, which nobody was told of. */
  private static FileChannel open(String path) throws IOException {
    FileChannel file =
        FileChannel.open(
            Path.of(path),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    long end = file.size();
    ByteBuffer one = ByteBuffer.allocate(1);
    while (end > 0 && file.read(one.clear(), end - 1) == 1 && one.get(0) != '\n') {
      end--;
    }
    return file.truncate(end).position(end);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      if (exchange.getRequestMethod().equals("POST")) { // else somebody asks whether we are there
        Headers headers = exchange.getRequestHeaders();
        String id = headers.getFirst("ce-id");
        String key = headers.getFirst("ce-partitionkey");
        if (id == null || key == null) {
          exchange.sendResponseHeaders(BAD_REQUEST, NO_BODY);
          return;
        }
        append(id + BETWEEN + key + BETWEEN + new String(body, UTF_8).replaceAll("\\R", " "));
      }
      exchange.sendResponseHeaders(NO_CONTENT, NO_BODY);
    }
  }

  /**
   * Returns when the line is on the disk. Requests that come at once share the way there. Where the
   * disk fails nobody knows what is there, and the process ends.
   */
  private void append(String line) {
    long mine;
    synchronized (this) {
      if (file != null) {
        waiting.append(line).append('\n');
      }
      mine = ++appended;
    }
    synchronized (writing) {
      if (file != null && durable < mine) {
        try {
          write(file);
        } catch (IOException e) {
          e.printStackTrace();
          Runtime.getRuntime().halt(1);
        }
      }
    }
  }

  private void write(FileChannel file) throws IOException {
    String lines;
    long last;
    synchronized (this) {
      lines = waiting.toString();
      waiting = new StringBuilder();
      last = appended;
    }
    ByteBuffer bytes = ByteBuffer.wrap(lines.getBytes(UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
    file.force(false);
    durable = last;
  }
}
