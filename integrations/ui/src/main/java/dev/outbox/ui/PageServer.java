package dev.outbox.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Serves an {@link OutboxPage} by HTTP, to those who have a token. Without TLS: for this machine,
 * or behind a proxy.
 */
public final class PageServer implements AutoCloseable {
  private static final int THREADS = 4;
  private static final int TOKEN_BYTES = 18;

  /** The most bytes of a form. */
  private static final int MOST_FORM = 65_536;

  private final OutboxPage page;
  private final HttpServer server;
  private final Access access;
  private final String url;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          THREADS,
          task -> {
            Thread made = new Thread(task, "outbox-page-server");
            made.setDaemon(true);
            return made;
          });

  private PageServer(OutboxPage page, HttpServer server, String host, String token) {
    this.page = page;
    this.server = server;
    int port = server.getAddress().getPort();
    String name = host.contains(":") ? "[" + host + "]" : host;
    access =
        new Access(
            token, "outbox-" + port, name, server.getAddress().getAddress().isLoopbackAddress());
    url = "http://%s:%d/?token=%s".formatted(name, port, URLEncoder.encode(token, UTF_8));
    server.setExecutor(threads);
    server.createContext("/", this::handle);
  }

  /**
   * Begins to serve.
   *
   * @param page is closed with the server
   * @param host the name or address of this machine to listen at
   * @param port 0: any that is free
   * @param token what who asks must have; null: a random one
   * @throws UncheckedIOException when it cannot listen there
   */
  public static PageServer start(OutboxPage page, String host, int port, @Nullable String token) {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getByName(host), port), 0);
      PageServer started =
          new PageServer(
              page,
              server,
              host,
              token == null ? FormTokens.text(FormTokens.random(TOKEN_BYTES)) : token);
      server.start();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the page cannot listen at %s, port %d: %s".formatted(host, port, e.getMessage()), e);
    }
  }

  /** Where it is, with the token: a secret. */
  public String url() {
    return url;
  }

  /** Whether only this machine can reach it. */
  public boolean isLocal() {
    return access.isLocal();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      send(exchange, answer(exchange));
    }
  }

  private PageResponse answer(HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    Map<String, String> headers = new HashMap<>();
    exchange
        .getRequestHeaders()
        .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
    try {
      Map<String, String> query = PageRequest.parameters(exchange.getRequestURI().getRawQuery());
      PageResponse instead = access.instead(method, query, headers);
      if (instead != null) {
        return instead;
      }
      byte[] form =
          method.equals("POST") ? exchange.getRequestBody().readNBytes(MOST_FORM + 1) : new byte[0];
      return form.length > MOST_FORM
          ? PageResponse.text(413, "This form is too large.")
          : page.answer(
              new PageRequest(
                  method,
                  exchange.getRequestURI().getPath().substring(1),
                  query,
                  PageRequest.parameters(new String(form, UTF_8)),
                  headers));
    } catch (IllegalArgumentException e) {
      return PageResponse.text(400, "This request cannot be read: " + e.getMessage());
    }
  }

  private static void send(HttpExchange exchange, PageResponse response) throws IOException {
    byte[] body = response.body().getBytes(UTF_8);
    response.headers().forEach(exchange.getResponseHeaders()::set);
    exchange.sendResponseHeaders(response.status(), body.length == 0 ? -1 : body.length);
    if (body.length > 0) {
      exchange.getResponseBody().write(body);
    }
  }

  /** Ends at once. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    page.close();
  }
}
