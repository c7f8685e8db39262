package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/** Where the HTTP publisher sends messages to. */
final class Endpoint implements AutoCloseable {
  /** Path and body of each that was sent. */
  final BlockingQueue<String> posted = new LinkedBlockingQueue<>();

  /** What it answers, by path; else it takes the message. */
  final Map<String, Integer> answers = new ConcurrentHashMap<>();

  private final HttpServer server;

  /**
   * @param port 0: any that is free
   */
  Endpoint(int port) throws IOException {
    server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            String path = exchange.getRequestURI().getPath().substring(1);
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            if (exchange.getRequestMethod().equals("POST")) { // else the relay asks who is there
              posted.add(path + " " + body);
            }
            exchange.sendResponseHeaders(answers.getOrDefault(path, 204), -1);
          }
        });
    server.start();
  }

  /** A relay's settings: the path is of a pattern. */
  String settings(String path) {
    return """
    publisher=http
    destination=http://127.0.0.1:%d/%s
    publisher.cloudEventsSource=https://shop.example
    """
        .formatted(server.getAddress().getPort(), path);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
