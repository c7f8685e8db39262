package dev.outbox.dev.broker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.outbox.embedded.ParentJvm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Receives CloudEvents, in a process of its own, and counts them. Asked anything by its parent, it
 * says how many there were.
 */
final class Receiver {
  static final String PORT = "port";
  static final String STARTED = "started";
  static final int NO_CONTENT = 204;

  private static final int BAD_REQUEST = 400;
  private static final int NO_BODY = -1;
  private static final AtomicLong ARRIVED = new AtomicLong();

  private Receiver() {}

  public static void main(String[] args) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    ParentJvm parent = ParentJvm.connect();
    int port = Integer.parseInt(parent.get(PORT));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", Receiver::handle);
    server.start();
    parent.say(STARTED);
    while (!parent.command().isEmpty()) {
      parent.say(ARRIVED.toString());
    }
  }

  private static void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      long ignored = exchange.getRequestBody().readAllBytes().length;
      boolean good = exchange.getRequestHeaders().getFirst("ce-id") != null;
      ARRIVED.addAndGet(good ? 1 : 0);
      exchange.sendResponseHeaders(good ? NO_CONTENT : BAD_REQUEST, NO_BODY);
    }
  }
}
