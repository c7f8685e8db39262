package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.outbox.Header;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;

/** An endpoint on the JDK's server, which keeps what it gets. */
final class Receiver implements AutoCloseable {
  static {
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  volatile Function<Request, Reply> answer = request -> Reply.of(204);

  /** A request; names of fields are in lower case. */
  record Request(String method, String path, Map<String, List<String>> fields, byte[] body) {
    String field(String name) {
      List<String> values = fields.get(name);
      return values == null ? null : values.get(values.size() - 1);
    }

    /** As a consumer reads it. */
    String decoded(String name) {
      String value = field(name);
      return value == null ? null : decode(value);
    }

    List<Header> headers() {
      String json = field("outbox-headers");
      return json == null ? List.of() : Header.fromJson(json);
    }
  }

  /** An answer. */
  record Reply(int status, Map<String, String> fields, String body) {
    static Reply of(int status) {
      return new Reply(status, Map.of(), "");
    }

    Reply with(String name, String value) {
      return new Reply(status, Map.of(name, value), body);
    }
  }

  /** Percent-decodes; the JDK's decoder also takes a plus for a space. */
  static String decode(String value) {
    return URLDecoder.decode(value.replace("+", "%2B"), UTF_8);
  }

  private Receiver(HttpServer server) throws IOException {
    this.server = server;
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  static Receiver start() {
    try {
      return new Receiver(HttpServer.create(anyPort(), 0));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static Receiver start(SSLContext tls) throws IOException {
    HttpsServer server = HttpsServer.create(anyPort(), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls));
    return new Receiver(server);
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  int port() {
    return server.getAddress().getPort();
  }

  String url(String path) {
    String scheme = server instanceof HttpsServer ? "https" : "http";
    return "%s://localhost:%d%s".formatted(scheme, port(), path);
  }

  /** From now on requests are answered at once, and those of this key when it is time. */
  void answerLate(String key, CountDownLatch time) {
    answer =
        request -> {
          if (key.equals(request.field("ce-subject"))) {
            await().until(() -> time.getCount() == 0);
          }
          return Reply.of(204);
        };
  }

  Request next() throws InterruptedException {
    return requests.take();
  }

  static Request read(HttpExchange exchange) throws IOException {
    return new Request(
        exchange.getRequestMethod(),
        exchange.getRequestURI().getRawPath(),
        exchange.getRequestHeaders().entrySet().stream()
            .collect(
                Collectors.toMap(
                    field -> field.getKey().toLowerCase(Locale.ROOT), Map.Entry::getValue)),
        exchange.getRequestBody().readAllBytes());
  }

  private void handle(HttpExchange exchange) throws IOException {
    Request request = read(exchange);
    requests.add(request);
    Reply reply = answer.apply(request);
    reply.fields.forEach(exchange.getResponseHeaders()::set);
    byte[] body = reply.body.getBytes(UTF_8);
    exchange.sendResponseHeaders(reply.status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
