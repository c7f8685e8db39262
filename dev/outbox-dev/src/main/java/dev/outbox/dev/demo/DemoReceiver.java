package dev.outbox.dev.demo;

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

/**
 * Receives CloudEvents, in a process of its own: appends each to a file, as "ID KEY PAYLOAD", and
 * answers when it is on the disk. A crash loses nothing that was acknowledged.
 */
final class DemoReceiver {
  static final String PORT = "port";
  static final String FILE = "file";
  static final String STARTED = "started";

  /** The parts of a line; not in the first two, which are percent-encoded. */
  static final String BETWEEN = "\t";

  private static final int NO_CONTENT = 204;
  private static final int BAD_REQUEST = 400;
  private static final int NO_BODY = -1;

  private final FileChannel file;
  private final Object writing = new Object();
  private StringBuilder waiting = new StringBuilder();
  private long appended;
  private long durable;

  private DemoReceiver(FileChannel file) {
    this.file = file;
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    ParentJvm parent = ParentJvm.connect();
    FileChannel file =
        FileChannel.open(
            Path.of(parent.get(FILE)),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    DemoReceiver receiver = new DemoReceiver(file);
    receiver.cutBrokenLine();
    int port = Integer.parseInt(parent.get(PORT));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", receiver::handle);
    server.start();
    parent.say(STARTED);
  }

  /** A crash may have left a part of a line, which nobody was told of. */
  private void cutBrokenLine() throws IOException {
    long end = file.size();
    ByteBuffer one = ByteBuffer.allocate(1);
    while (end > 0 && file.read(one.clear(), end - 1) == 1 && one.get(0) != '\n') {
      end--;
    }
    file.truncate(end).position(end);
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
      waiting.append(line).append('\n');
      mine = ++appended;
    }
    synchronized (writing) {
      if (durable < mine) {
        try {
          write();
        } catch (IOException e) {
          e.printStackTrace();
          Runtime.getRuntime().halt(1);
        }
      }
    }
  }

  private void write() throws IOException {
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
