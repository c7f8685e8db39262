package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.ParentJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * An endpoint in a process of its own, which can be stopped, killed and frozen. What it answers
 * with 2xx is in a file, durably, a request a line. It answers what the header {@code test-answer}
 * says, and 404 to a path that ends in {@code /missing}.
 */
final class ReceiverMain {
  static final String ANSWER = "test-answer";

  private final FileChannel file;

  private ReceiverMain(Path file) throws IOException {
    this.file = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    ParentJvm parent = ParentJvm.connect();
    int port = Integer.parseInt(parent.get("port"));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", new ReceiverMain(Path.of(parent.get("file")))::handle);
    server.start();
    parent.say(Integer.toString(server.getAddress().getPort()));
    String unused = parent.command();
    server.stop(0);
    Runtime.getRuntime().halt(0);
  }

  private void handle(HttpExchange exchange) throws IOException {
    Receiver.Request request = Receiver.read(exchange);
    String answer = request.field(ANSWER);
    int status = answer != null ? Integer.parseInt(answer) : 204;
    status = request.path().endsWith("/missing") ? 404 : status;
    if (status == 204 && request.method().equals("POST")) {
      keep(request);
    }
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private void keep(Receiver.Request request) throws IOException {
    StringBuilder line = new StringBuilder(encode(request.path().getBytes(UTF_8)));
    line.append(' ').append(encode(request.body()));
    request
        .fields()
        .forEach(
            (name, values) ->
                values.forEach(
                    value ->
                        line.append(' ').append(encode((name + "=" + value).getBytes(UTF_8)))));
    ByteBuffer entry = ByteBuffer.wrap(line.append('\n').toString().getBytes(ISO_8859_1));
    synchronized (file) {
      file.write(entry);
      file.force(false);
    }
  }

  /** What is in the file, of this path or below it. */
  static List<Receiver.Request> read(Path file, String path) {
    List<Receiver.Request> requests = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(file, ISO_8859_1)) {
        String[] parts = line.split(" ", -1);
        String to = new String(decode(parts[0]), UTF_8);
        if (to.startsWith(path)) {
          Map<String, List<String>> fields = new HashMap<>();
          for (int i = 2; i < parts.length; i++) {
            String[] field = new String(decode(parts[i]), UTF_8).split("=", 2);
            fields.computeIfAbsent(field[0], name -> new ArrayList<>()).add(field[1]);
          }
          requests.add(new Receiver.Request("POST", to, fields, decode(parts[1])));
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return requests;
  }

  private static String encode(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private static byte[] decode(String text) {
    return Base64.getDecoder().decode(text);
  }
}
