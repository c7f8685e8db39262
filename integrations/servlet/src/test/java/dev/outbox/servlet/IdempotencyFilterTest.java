package dev.outbox.servlet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.InvalidMessageException;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.inbox.InboxKey;
import dev.outbox.store.postgres.PostgresInboxStore;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.ee11.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Over real HTTP, on Jetty and PostgreSQL. */
@DisplayName("A request with an Idempotency-Key")
class IdempotencyFilterTest {
  private static final String SCHEMA =
      "idempotency_" + UUID.randomUUID().toString().substring(0, 8);
  private static final int MAX = 2_000;

  /** What a servlet does with a request, in the test that sends it. */
  private interface Handler {
    void handle(HttpServletRequest request, HttpServletResponse response) throws Exception;
  }

  private static DatabaseServer database;
  private static PGSimpleDataSource dataSource;
  private static PostgresInboxStore inbox;
  private static Server server;
  private static String url;
  private static volatile Handler handler;

  /** What each watched request had left to read: -1 is its end. */
  private static final BlockingQueue<Integer> LEFT = new LinkedBlockingQueue<>();

  private final HttpClient client =
      HttpClient.newBuilder().version(Version.HTTP_1_1).followRedirects(Redirect.NEVER).build();
  private final String key = UUID.randomUUID().toString();
  private final AtomicInteger effects = new AtomicInteger();

  @BeforeAll
  static void start() throws Exception {
    database = DatabaseServer.postgres();
    dataSource = new PGSimpleDataSource();
    dataSource.setUrl(database.jdbcUrl());
    dataSource.setUser(database.user());
    dataSource.setPassword(database.password());
    execute("create schema " + SCHEMA);
    dataSource.setCurrentSchema(SCHEMA);
    inbox = PostgresInboxStore.of(dataSource);
    inbox.migrate();

    server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler();
    context.addFilter(new FilterHolder(users()), "/*", EnumSet.of(DispatcherType.REQUEST));
    add(context, "/orders/*", IdempotencyFilter.builder(inbox, "orders"));
    add(context, "/others/*", IdempotencyFilter.builder(inbox, "orders"));
    add(context, "/optional/*", IdempotencyFilter.builder(inbox, "optional").optional());
    context.addServlet(new ServletHolder(new Handling()), "/*");
    ErrorPageErrorHandler errors = new ErrorPageErrorHandler();
    errors.addErrorPage(404, "/orders/error");
    context.setErrorHandler(errors);
    server.setHandler(context);
    server.start();
    url = "http://127.0.0.1:" + connector.getLocalPort();
  }

  private static void add(
      ServletContextHandler context, String path, IdempotencyFilter.Builder filter) {
    context.addFilter(
        new FilterHolder(filter.maxRequest(MAX).maxAnswer(MAX).build()),
        path,
        EnumSet.allOf(DispatcherType.class));
  }

  /**
   * In the place of a login; and as Tomcat, which reads a form only when it is posted, and has no
   * header of a locale before it sends the answer.
   */
  private static Filter users() {
    return (request, response, chain) -> {
      HttpServletRequest http = (HttpServletRequest) request;
      chain.doFilter(
          new HttpServletRequestWrapper(http) {
            @Override
            public String getRemoteUser() {
              return getHeader("User");
            }

            @Override
            public Map<String, String[]> getParameterMap() {
              return getMethod().equals("POST") ? super.getParameterMap() : Map.of();
            }
          },
          new HttpServletResponseWrapper((HttpServletResponse) response) {
            @Override
            public void setLocale(Locale locale) {}
          });
      if (http.getHeader("Watched") != null) {
        LEFT.add(http.getInputStream().read());
      }
    };
  }

  private static final class Handling extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
        throws ServletException, IOException {
      try {
        handler.handle(request, response);
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new ServletException(e);
      }
    }
  }

  @AfterAll
  static void stop() throws Exception {
    if (server != null) {
      server.stop();
    }
    execute("drop schema " + SCHEMA + " cascade");
    database.close();
  }

  private static void execute(String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private HttpRequest.Builder request(String path, BodyPublisher body) {
    return HttpRequest.newBuilder(URI.create(url + path)).POST(body).header("Idempotency-Key", key);
  }

  private HttpRequest.Builder request(String path, String body) {
    return request(path, BodyPublishers.ofString(body));
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }

  private HttpResponse<byte[]> post(String path, String body) throws Exception {
    return send(request(path, body));
  }

  private static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), UTF_8);
  }

  private void created() {
    handler =
        (request, response) -> {
          int number = effects.incrementAndGet();
          response.setStatus(201);
          response.setHeader("Location", "/orders/" + number);
          response.addHeader("Link", "</a>; rel=self");
          response.addHeader("Link", "</b>; rel=next");
          response.setHeader("Set-Cookie", "session=secret");
          response.setContentType("text/plain;charset=utf-8");
          response.getOutputStream().write("Bestellung ü %d\0".formatted(number).getBytes(UTF_8));
          response.getOutputStream().write(request.getInputStream().readAllBytes());
        };
  }

  @Test
  @DisplayName("is handled once, and answered the same again")
  void once() throws Exception {
    created();
    HttpResponse<byte[]> first = post("/orders/", "tea");
    HttpResponse<byte[]> second = post("/orders/", "tea");
    assertThat(effects).hasValue(1);
    assertThat(text(first)).isEqualTo("Bestellung ü 1\0tea");
    assertThat(second.statusCode()).isEqualTo(first.statusCode()).isEqualTo(201);
    assertThat(second.body()).isEqualTo(first.body());
    for (String name : List.of("Location", "Link", "Content-Type", "Content-Length")) {
      assertThat(second.headers().allValues(name))
          .as(name)
          .isEqualTo(first.headers().allValues(name))
          .isNotEmpty();
    }
    assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
    assertThat(second.headers().firstValue("Idempotent-Replayed")).contains("true");
    assertThat(first.headers().firstValue("Set-Cookie")).isPresent();
    assertThat(second.headers().firstValue("Set-Cookie")).as("is not its business").isEmpty();
  }

  @Test
  @DisplayName("may have it in quotes, as the draft asks")
  void quoted() throws Exception {
    created();
    post("/orders/", "tea");
    HttpRequest.Builder quoted =
        request("/orders/", "tea").setHeader("Idempotency-Key", "\"" + key + "\"");
    assertThat(send(quoted).headers().firstValue("Idempotent-Replayed")).isPresent();
  }

  @Test
  @DisplayName("is refused with 400 when the key is missing or cannot be one")
  void missing() throws Exception {
    created();
    HttpRequest.Builder without =
        HttpRequest.newBuilder(URI.create(url + "/orders/")).POST(BodyPublishers.ofString("tea"));
    HttpResponse<byte[]> answer = send(without);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
    assertThat(text(answer)).contains("This request needs a header Idempotency-Key");
    assertThat(text(send(without.setHeader("Idempotency-Key", "\"  \""))))
        .contains("Idempotency-Key is blank");
    assertThat(send(without.setHeader("Idempotency-Key", "x".repeat(256))).statusCode())
        .isEqualTo(400);
    assertThat(text(send(without.setHeader("Idempotency-Key", "a").header("Idempotency-Key", "b"))))
        .contains("There are 2 headers");
    assertThat(effects).hasValue(0);
  }

  @Test
  @DisplayName("passes by where it need not have one, or has another method")
  void passes() throws Exception {
    created();
    HttpRequest.Builder without = HttpRequest.newBuilder(URI.create(url + "/optional/"));
    assertThat(send(without.POST(BodyPublishers.ofString("tea"))).statusCode()).isEqualTo(201);
    assertThat(send(HttpRequest.newBuilder(URI.create(url + "/orders/"))).statusCode())
        .isEqualTo(201);
    post("/optional/", "tea");
    post("/optional/", "tea");
    assertThat(effects).hasValue(3);
  }

  @Test
  @DisplayName("is refused with 422 when another request had its key")
  void mismatch() throws Exception {
    created();
    post("/orders/1", "tea");
    List<HttpRequest.Builder> others =
        List.of(
            request("/orders/1", "coffee"),
            request("/orders/2", "tea"),
            request("/others/1", "tea"),
            request("/orders/1?fast", "tea"),
            request("/orders/1", BodyPublishers.noBody())
                .method("PATCH", BodyPublishers.ofString("tea")));
    for (HttpRequest.Builder other : others) {
      HttpResponse<byte[]> answer = send(other);
      assertThat(answer.statusCode()).as(other.build().toString()).isEqualTo(422);
      assertThat(text(answer)).contains("Idempotency-Key is already used");
    }
    assertThat(effects).hasValue(1);
  }

  @Test
  @DisplayName("is another when it comes to another host")
  void hosts() throws Exception {
    created();
    assertThat(raw("tea.example")).startsWith("HTTP/1.1 201");
    assertThat(raw("tea.example")).startsWith("HTTP/1.1 201");
    assertThat(raw("coffee.example")).startsWith("HTTP/1.1 422");
    assertThat(effects).hasValue(1);
  }

  private String raw(String host) throws IOException {
    try (Socket socket = sent(host)) {
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }

  /** By a client that does as it is told. */
  private Socket sent(String host) throws IOException {
    URI server = URI.create(url);
    Socket socket = new Socket(server.getHost(), server.getPort());
    socket
        .getOutputStream()
        .write(
            "POST /orders/ HTTP/1.1\r\nHost: %s\r\nIdempotency-Key: %s\r\nConnection: close\r\nContent-Length: 3\r\n\r\ntea"
                .formatted(host, key)
                .getBytes(UTF_8));
    return socket;
  }

  @Test
  @DisplayName("is its user's: others have keys of their own, and so has nobody")
  void owned() throws Exception {
    handler =
        (request, response) ->
            response.getWriter().print(request.getRemoteUser() + effects.incrementAndGet());
    List<String> users = List.of("alice", "bob", "alice/" + key, "%2F", "x".repeat(300));
    for (int i = 0; i < 2; i++) {
      assertThat(text(post("/orders/", "tea"))).isEqualTo("null1");
      for (int user = 0; user < users.size(); user++) {
        HttpRequest.Builder tea = request("/orders/", "tea").header("User", users.get(user));
        assertThat(text(send(tea))).isEqualTo(users.get(user) + (user + 2));
      }
    }
    HttpRequest.Builder coffee = request("/orders/", "coffee").header("User", "alice");
    assertThat(send(coffee).statusCode()).isEqualTo(422);
    HttpRequest.Builder tea = request("/orders/", "tea");
    assertThat(text(send(tea.setHeader("Idempotency-Key", "alice/" + key))))
        .as("nobody, who guesses")
        .isEqualTo("null7");
    assertThat(
            text(send(tea.header("User", "alice").setHeader("Idempotency-Key", key + "/" + key))))
        .as("not the key of the user alice/…")
        .isEqualTo("alice8");
  }

  @Test
  @DisplayName("is refused with 409 while the first is being handled")
  void concurrent() throws Exception {
    CountDownLatch handling = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    handler =
        (request, response) -> {
          effects.incrementAndGet();
          handling.countDown();
          goOn.await();
          response.getWriter().print("done");
        };
    List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      answers.add(client.sendAsync(request("/orders/", "tea").build(), BodyHandlers.ofByteArray()));
    }
    handling.await();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> answers.stream().filter(CompletableFuture::isDone).count() == 7);
    answers.stream()
        .filter(CompletableFuture::isDone)
        .map(CompletableFuture::join)
        .forEach(
            answer -> {
              assertThat(answer.statusCode()).isEqualTo(409);
              assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0))
                  .isBetween(1L, 60L);
            });
    goOn.countDown();
    answers.forEach(CompletableFuture::join);
    assertThat(text(post("/orders/", "tea"))).isEqualTo("done");
    assertThat(effects).hasValue(1);
  }

  @Test
  @DisplayName("is handled again after a crash, when its lock has run out")
  void crash() throws Exception {
    created();
    // What a process leaves that is killed in the middle.
    inbox.begin(new InboxKey("orders", "/" + key), Duration.ofHours(1));
    HttpResponse<byte[]> early = post("/orders/", "tea");
    assertThat(early.statusCode()).isEqualTo(409);
    assertThat(early.headers().firstValueAsLong("Retry-After").orElse(0)).isBetween(1L, 3600L);
    execute(
        "update inbox_message set lock_until = now() - interval '1 second' where message_id = '/%s'"
            .formatted(key));
    assertThat(post("/orders/", "tea").statusCode()).isEqualTo(201);
    post("/orders/", "tea");
    assertThat(effects).hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 409, 429, 500, 503})
  @DisplayName("is handled again after an answer that is none")
  void released(int status) throws Exception {
    handler = (request, response) -> response.setStatus(status);
    assertThat(post("/orders/", "tea").statusCode()).isEqualTo(status);
    created();
    assertThat(post("/orders/", "tea").statusCode()).isEqualTo(201);
  }

  @Test
  @DisplayName("is handled again after sendError, an exception, and startAsync, which is refused")
  void thrown() throws Exception {
    handler = (request, response) -> response.sendError(400, "no such tea");
    assertThat(post("/orders/", "tea").statusCode()).isEqualTo(400);
    handler =
        (request, response) -> {
          response.getWriter().print("half an answer");
          throw new IllegalStateException("out of tea");
        };
    assertThat(post("/orders/", "tea").statusCode()).isEqualTo(500);
    handler = (request, response) -> request.startAsync();
    assertThat(post("/orders/", "tea").statusCode()).isEqualTo(500);
    created();
    assertThat(text(post("/orders/", "tea"))).isEqualTo("Bestellung ü 1\0tea");
  }

  @Test
  @DisplayName("is one with what it is forwarded to, and with an error's page")
  void dispatched() throws Exception {
    handler =
        (request, response) -> {
          if (request.getDispatcherType() == DispatcherType.REQUEST) {
            response.sendError(404);
          } else {
            response.getWriter().print("no tea");
          }
        };
    assertThat(text(post("/orders/", "tea"))).isEqualTo("no tea");
    handler =
        (request, response) -> {
          if (request.getDispatcherType() == DispatcherType.REQUEST) {
            request.getRequestDispatcher("/orders/inner").forward(request, response);
          } else {
            response.getWriter().print("tea " + effects.incrementAndGet());
          }
        };
    assertThat(text(post("/orders/", "tea"))).isEqualTo("tea 1");
    assertThat(text(post("/orders/", "tea"))).isEqualTo("tea 1");
  }

  @Test
  @DisplayName("is answered with an error again, when that is final")
  void finalError() throws Exception {
    handler =
        (request, response) -> {
          response.setStatus(404);
          response.getWriter().print("no tea " + effects.incrementAndGet());
        };
    assertThat(text(post("/orders/", "tea"))).isEqualTo("no tea 1");
    HttpResponse<byte[]> second = post("/orders/", "tea");
    assertThat(second.statusCode()).isEqualTo(404);
    assertThat(text(second)).isEqualTo("no tea 1");
  }

  @Test
  @DisplayName("is refused with 413 when its body is too large")
  void largeRequest() throws Exception {
    created();
    byte[] body = new byte[MAX + 1];
    HttpResponse<byte[]> answer = send(request("/orders/", BodyPublishers.ofByteArray(body)));
    assertThat(answer.statusCode()).isEqualTo(413);
    assertThat(answer.headers().firstValue("Connection")).contains("close");
    BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    assertThat(send(request("/orders/", chunked)).statusCode()).isEqualTo(413);
    byte[] most = new byte[MAX - 100]; // beside what the servlet says itself
    assertThat(send(request("/orders/", BodyPublishers.ofByteArray(most))).statusCode())
        .isEqualTo(201);
    assertThat(effects).hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"text/plain", "multipart/form-data; boundary=x"})
  @DisplayName("has its body read when no servlet sees it, so that the connection is not closed")
  void bodyIsRead(String type) throws Exception {
    created();
    HttpRequest.Builder tea = request("/orders/", "tea").setHeader("Content-Type", type);
    assertThat(send(tea).statusCode()).isEqualTo(201);
    assertThat(readToTheEnd(tea)).as("the answer again").isEqualTo(201);
    assertThat(readToTheEnd(tea.copy().uri(URI.create(url + "/orders/2")))).isEqualTo(422);
    inbox.begin(new InboxKey("orders", "/2" + key), Duration.ofHours(1));
    assertThat(readToTheEnd(tea.setHeader("Idempotency-Key", "2" + key))).isEqualTo(409);
    assertThat(readToTheEnd(tea.setHeader("Idempotency-Key", ""))).isEqualTo(400);
  }

  /** The status. */
  private int readToTheEnd(HttpRequest.Builder request) throws Exception {
    HttpResponse<byte[]> answer = send(request.copy().header("Watched", "true"));
    assertThat(LEFT.poll(1, TimeUnit.MINUTES)).isEqualTo(-1);
    assertThat(answer.headers().firstValue("Connection")).isEmpty();
    return answer.statusCode();
  }

  @Test
  @DisplayName("is answered as the servlet streams it; what is too large is not kept")
  void streamed() throws Exception {
    int[] size = {MAX};
    handler =
        (request, response) -> {
          effects.incrementAndGet();
          for (int i = 0; i < size[0]; i++) {
            response.getOutputStream().write('a' + i % 26);
            if (i % 100 == 0) {
              response.flushBuffer();
              response.getOutputStream().flush();
            }
          }
        };
    HttpResponse<byte[]> first = post("/orders/", "tea");
    assertThat(first.body()).hasSize(MAX);
    assertThat(post("/orders/", "tea").body()).isEqualTo(first.body());
    assertThat(effects).hasValue(1);

    size[0] = MAX * 100 + 1;
    String other = UUID.randomUUID().toString();
    HttpRequest.Builder large = request("/orders/", "tea").setHeader("Idempotency-Key", other);
    assertThat(send(large).body()).hasSize(size[0]).startsWith(first.body());
    HttpResponse<byte[]> gone = send(large);
    assertThat(gone.statusCode()).isEqualTo(410);
    assertThat(text(gone)).contains("answered with status 200; that answer was too large");
    assertThat(effects).hasValue(2);
  }

  @Test
  @DisplayName("is handled once, also when its client hangs up during a large answer")
  void hungUp() throws Exception {
    CountDownLatch streaming = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    handler =
        (request, response) -> {
          effects.incrementAndGet();
          try {
            while (true) {
              response.getOutputStream().write(new byte[MAX + 1]);
              streaming.countDown();
            }
          } finally {
            ended.countDown();
          }
        };
    try (Socket client = sent(URI.create(url).getHost())) {
      streaming.await();
      client.setSoLinger(true, 0); // the connection is reset
    }
    ended.await();
    created();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> raw(URI.create(url).getAuthority()), answer -> !answer.contains(" 409 "));
    assertThat(raw(URI.create(url).getAuthority())).startsWith("HTTP/1.1 410");
    assertThat(effects).hasValue(1);
  }

  @Test
  @DisplayName("is redirected the same again")
  void redirected() throws Exception {
    handler = (request, response) -> response.sendRedirect("/there/" + effects.incrementAndGet());
    for (int i = 0; i < 2; i++) {
      HttpResponse<byte[]> answer = post("/orders/", "tea");
      assertThat(answer.statusCode()).isEqualTo(302);
      assertThat(answer.headers().firstValue("Location")).contains("/there/1");
    }
  }

  @Test
  @DisplayName("may be a form, of which the servlet sees the parameters")
  void form() throws Exception {
    handler =
        (request, response) -> {
          response.setContentType("text/plain;charset=UTF-8");
          response.getWriter().print(Arrays.toString(request.getParameterValues("what")));
        };
    for (int i = 0; i < 2; i++) {
      assertThat(text(send(form("what=t%C3%A9&what=milk")))).isEqualTo("[té, milk]");
    }
    assertThat(send(form("what=milk")).statusCode()).isEqualTo(422);
    assertThat(send(form("what=t%C3%A9%2C+milk")).statusCode()).isEqualTo(422);
  }

  @Test
  @DisplayName("may be a form that is not posted, of which the servlet reads the body")
  void otherForm() throws Exception {
    handler =
        (request, response) ->
            response.getWriter().print(request.getReader().readLine() + effects.incrementAndGet());
    for (int i = 0; i < 2; i++) {
      assertThat(text(send(patch("what=tea")))).isEqualTo("what=tea1");
    }
    assertThat(send(patch("what=milk")).statusCode()).isEqualTo(422);
  }

  private HttpRequest.Builder patch(String form) {
    return form(form).method("PATCH", BodyPublishers.ofString(form));
  }

  private HttpRequest.Builder form(String body) {
    return request("/orders/", body).header("Content-Type", "application/x-www-form-urlencoded");
  }

  @Test
  @DisplayName("may be read as text, and answered as text")
  void text() throws Exception {
    handler =
        (request, response) -> {
          response.setContentType("text/plain");
          response.setCharacterEncoding("UTF-8");
          PrintWriter writer = response.getWriter();
          writer.print("1 x ");
          response.resetBuffer();
          writer.print("2 x " + request.getReader().readLine());
          assertThatThrownBy(response::getOutputStream).isInstanceOf(IllegalStateException.class);
        };
    for (int i = 0; i < 2; i++) {
      HttpResponse<byte[]> answer =
          send(request("/orders/", "té").header("Content-Type", "text/plain;charset=UTF-8"));
      assertThat(text(answer)).isEqualTo("2 x té");
      assertThat(answer.headers().firstValue("Content-Type").orElse(""))
          .containsIgnoringCase("charset=utf-8");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, MAX})
  @DisplayName("is answered in the encoding that the writer has, whatever is set later")
  void encoding(int repetitions) throws Exception {
    handler =
        (request, response) -> {
          PrintWriter writer = response.getWriter();
          response.setContentType("text/plain;charset=UTF-8");
          writer.print("té".repeat(repetitions));
        };
    HttpResponse<String> answer =
        client.send(request("/orders/", "tea").build(), BodyHandlers.ofString());
    assertThat(answer.body()).isEqualTo("té".repeat(repetitions));
  }

  @Test
  @DisplayName("is answered in its language again")
  void language() throws Exception {
    handler = (request, response) -> response.setLocale(Locale.CANADA_FRENCH);
    for (int i = 0; i < 2; i++) {
      assertThat(post("/orders/", "tea").headers().firstValue("Content-Language"))
          .contains("fr-CA");
    }
  }

  @Test
  @DisplayName("is answered with what comes after a reset")
  void reset() throws Exception {
    handler =
        (request, response) -> {
          response.getWriter().print("half an answer");
          response.flushBuffer();
          response.reset();
          response.getOutputStream().write("tea".getBytes(UTF_8));
        };
    for (int i = 0; i < 2; i++) {
      assertThat(text(post("/orders/", "tea"))).isEqualTo("tea");
    }
  }

  @Test
  @DisplayName("is answered also when the answer cannot be kept")
  void notKept() throws Exception {
    handler =
        (request, response) -> {
          execute("alter table inbox_message rename to gone");
          response.setStatus(201);
        };
    try {
      assertThat(post("/orders/", "tea").statusCode()).isEqualTo(201);
    } finally {
      execute("alter table gone rename to inbox_message");
    }
    assertThat(post("/orders/", "tea").statusCode()).as("its lock runs out").isEqualTo(409);
  }

  @Test
  @DisplayName("needs a filter that can be")
  void refused() {
    assertThatThrownBy(() -> IdempotencyFilter.builder(inbox, " "))
        .isInstanceOf(InvalidMessageException.class);
    IdempotencyFilter.Builder builder = IdempotencyFilter.builder(inbox, "orders");
    assertThatThrownBy(() -> builder.maxRequest(-1))
        .hasMessage("maxRequest is -1, allowed is 0 and more");
  }
}
