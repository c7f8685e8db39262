package dev.outbox.ui;

import static dev.outbox.ui.Html.at;
import static dev.outbox.ui.Html.el;
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
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves an {@link OutboxPage}, or several, by HTTP, to those who have a token, and beside it, or
 * without it, what anybody may read. Without TLS: for this machine, or behind a proxy.
 */
public final class PageServer implements AutoCloseable {
  /** More than pages keep waiting, and than some clients hold that never end their requests. */
  private static final int THREADS = 200;

  private static final int TOKEN_BYTES = 18;

  /** The most bytes of a form. */
  private static final int MOST_FORM = 65_536;

  private final Map<String, OutboxPage> pages;
  private final Map<String, Supplier<PageResponse>> open;
  private final HttpServer server;
  private final Access access;
  private final String url;
  private final ThreadPoolExecutor threads;

  private PageServer(
      Map<String, OutboxPage> pages,
      Map<String, Supplier<PageResponse>> open,
      HttpServer server,
      String host,
      String token) {
    this.pages = new TreeMap<>(pages);
    this.open = Map.copyOf(open);
    this.server = server;
    int port = server.getAddress().getPort();
    String name = host.contains(":") ? "[" + host + "]" : host;
    access =
        new Access(
            token, "outbox-" + port, name, server.getAddress().getAddress().isLoopbackAddress());
    url = "http://%s:%s/?token=%s".formatted(name, port, URLEncoder.encode(token, UTF_8));
    threads = OutboxPage.threads("outbox-page-server", THREADS, Integer.MAX_VALUE);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
  }

  /**
   * Begins to serve.
   *
   * @param pages are closed with the server; by the path that each is below, as {@code orders} for
   *     {@code /orders/}, or by an empty text if it is the only one; may be empty
   * @param open what anybody may read, who needs no token: by its path, as {@code /health/live}
   * @param host the name or address of this machine to listen at
   * @param port 0: any that is free
   * @param token what who asks must have; null: a random one
   * @throws UncheckedIOException when it cannot listen there
   */
  public static PageServer start(
      Map<String, OutboxPage> pages,
      Map<String, Supplier<PageResponse>> open,
      String host,
      int port,
      @Nullable String token) {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getByName(host), port), 0);
      PageServer started =
          new PageServer(
              pages,
              open,
              server,
              host,
              token == null ? FormTokens.text(FormTokens.random(TOKEN_BYTES)) : token);
      server.start();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the server cannot listen at %s, port %s: %s".formatted(host, port, e.getMessage()), e);
    }
  }

  /** Where the page, or the list of pages, is, with the token: a secret. */
  public String url() {
    return url;
  }

  /** Whether only this machine can reach it. */
  public boolean isLocal() {
    return access.isLocal();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Supplier<PageResponse> anybody = open.get(exchange.getRequestURI().getPath());
      send(exchange, anybody == null ? answer(exchange) : anybody.get());
    }
  }

  private PageResponse answer(HttpExchange exchange) throws IOException {
    if (pages.isEmpty()) {
      return PageResponse.text(404, "Here are " + String.join(", ", new TreeSet<>(open.keySet())));
    }
    String method = exchange.getRequestMethod().replace("HEAD", "GET"); // it has no body
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
          : answer(
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

  /** That of the only page, or of the one whose name the path begins with, or the list of them. */
  private PageResponse answer(PageRequest request) {
    OutboxPage only = pages.get("");
    if (only != null) {
      return only.answer(request);
    }
    int slash = request.path().indexOf('/');
    if (slash < 0 && pages.containsKey(request.path())) {
      return PageResponse.seeOther(Link.to(request.path() + "/"));
    }
    OutboxPage page = slash < 0 ? null : pages.get(request.path().substring(0, slash));
    if (page == null) {
      return request.path().isEmpty()
          ? list()
          : PageResponse.text(404, "Here are " + String.join(", ", pages.keySet()));
    }
    return page.answer(
        new PageRequest(
            request.method(),
            request.path().substring(slash + 1),
            request.query(),
            request.form(),
            request.headers()));
  }

  private PageResponse list() {
    return PageResponse.of(
        200,
        "text/html",
        "<!doctype html>\n"
            + el(
                "html",
                at("lang", "en"),
                el("head", el("title", "Outboxes")),
                el(
                    "body",
                    el("h1", "Outboxes"),
                    el(
                        "ul",
                        pages.keySet().stream()
                            .map(name -> el("li", el("a", at("href", "./" + name + "/"), name)))
                            .toList()))));
  }

  private static void send(HttpExchange exchange, PageResponse response) throws IOException {
    boolean isHead = exchange.getRequestMethod().equals("HEAD"); // has no body
    byte[] body = isHead ? new byte[0] : response.body().getBytes(UTF_8);
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
    pages.values().forEach(OutboxPage::close);
  }
}
