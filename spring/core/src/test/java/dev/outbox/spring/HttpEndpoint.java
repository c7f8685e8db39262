package dev.outbox.spring;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Takes whatever is posted. */
final class HttpEndpoint implements AutoCloseable {
  record Request(String path, Headers headers, String body) {}

  /** So far. */
  final List<Request> requests = new CopyOnWriteArrayList<>();

  private final HttpServer server;

  HttpEndpoint() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      if (exchange.getRequestMethod().equals("POST")) { // the relay also asks for a sign of life
        requests.add(
            new Request(exchange.getRequestURI().getPath(), exchange.getRequestHeaders(), body));
      }
      exchange.sendResponseHeaders(204, -1);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
