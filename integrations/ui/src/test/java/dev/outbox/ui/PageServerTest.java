package dev.outbox.ui;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.spi.store.Decision;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.jsoup.Jsoup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The page's server")
class PageServerTest {
  private static final Map<String, Supplier<PageResponse>> OPEN =
      Map.of("/health/live", () -> PageResponse.text(503, "no"));

  private final Fixture outbox = new Fixture(Archive.NONE, true);
  private final PageServer server =
      PageServer.start(Map.of("", outbox.page), OPEN, "127.0.0.1", 0, null);
  private final URI home = URI.create(server.url()).resolve("/");
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void close() {
    server.close();
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder to(String address) {
    return HttpRequest.newBuilder(home.resolve(address));
  }

  private String cookie() throws Exception {
    HttpResponse<String> first = send(HttpRequest.newBuilder(URI.create(server.url())));
    assertThat(first.statusCode()).isEqualTo(303);
    assertThat(first.headers().firstValue("Location")).contains("./");
    String cookie = first.headers().firstValue("Set-Cookie").orElseThrow();
    assertThat(cookie).contains("HttpOnly", "SameSite=Lax").doesNotContain("Path");
    return cookie.substring(0, cookie.indexOf(';'));
  }

  /** What a client says that is free to write any header. */
  private String raw(String host, String cookie) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", home.getPort())) {
      socket
          .getOutputStream()
          .write(
              "GET / HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nConnection: close\r\n\r\n"
                  .formatted(host, cookie)
                  .getBytes(UTF_8));
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }

  @Test
  @DisplayName("answers who came with the token, and nobody else")
  void token() throws Exception {
    assertThat(server.url()).matches("http://127\\.0\\.0\\.1:\\d+/\\?token=[\\w-]{24}");
    assertThat(server.isLocal()).isTrue();
    for (String address :
        new String[] {"/", "/?token=", "/?token=wrong", "/style.css", "/messages"}) {
      HttpResponse<String> refused = send(to(address));
      assertThat(refused.statusCode()).as(address).isEqualTo(403);
      assertThat(refused.headers().firstValue("Content-Security-Policy")).isPresent();
    }
    String cookie = cookie();
    assertThat(send(to("/").header("Cookie", cookie + "x")).statusCode()).isEqualTo(403);
    HttpResponse<String> page = send(to("/").header("Cookie", "a=b; " + cookie));
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
    assertThat(page.body()).contains("nothing to do");
    HttpResponse<String> head = send(to("/").header("Cookie", cookie).method("HEAD", noBody()));
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
    assertThat(send(to("/style.css").header("Cookie", cookie)).body()).contains("color-scheme");
  }

  @Test
  @DisplayName("refuses another host's name, also with the cookie")
  void rebinding() throws Exception {
    String cookie = cookie();
    assertThat(raw("evil.example:" + home.getPort(), cookie)).startsWith("HTTP/1.1 403 ");
    assertThat(raw("127.0.0.1.evil.example", cookie)).startsWith("HTTP/1.1 403 ");
    assertThat(raw("localhost:" + home.getPort(), cookie)).startsWith("HTTP/1.1 200 ");
  }

  @Test
  @DisplayName("takes a form, of a bounded size")
  void form() throws Exception {
    outbox.append(Fixture.message("order", "ä"));
    outbox.settle(stored -> Decision.dead("no"));
    String cookie = cookie();
    String look = send(to("/requeue?sequence=1").header("Cookie", cookie)).body();
    Map<String, String> fields = Fixture.filled(Jsoup.parse(look));
    String form =
        fields.entrySet().stream()
            .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), UTF_8))
            .collect(Collectors.joining("&"));
    HttpRequest.Builder post =
        to("/requeue")
            .header("Cookie", cookie)
            .header("Origin", "http://127.0.0.1:" + home.getPort())
            .POST(BodyPublishers.ofString(form));
    assertThat(send(post).headers().firstValue("Location")).contains("dead-letters?requeued=1");
    assertThat(outbox.store.deadLetters(0, 1)).isEmpty();
    assertThat(send(post.POST(BodyPublishers.ofString("x".repeat(70_000)))).statusCode())
        .isEqualTo(413);
  }

  @Test
  @DisplayName("serves several pages, each below its name, and a list of them")
  void several() throws Exception {
    try (PageServer several =
        PageServer.start(Map.of("orders", outbox.page), Map.of(), "127.0.0.1", 0, "secret")) {
      URI list = URI.create(several.url()).resolve("/");
      HttpRequest.Builder asked =
          HttpRequest.newBuilder().header("Cookie", "outbox-" + list.getPort() + "=secret");
      assertThat(send(asked.uri(list)).body()).contains("href=\"./orders/\"");
      assertThat(send(asked.uri(list.resolve("orders"))).headers().firstValue("Location"))
          .contains("orders/");
      assertThat(send(asked.uri(list.resolve("orders/"))).statusCode()).isEqualTo(200);
      assertThat(send(asked.uri(list.resolve("bills"))).statusCode()).isEqualTo(404);
    }
  }

  @Test
  @DisplayName("answers to anybody what is open, by whatever name, also where there is no page")
  void open() throws Exception {
    assertThat(send(to("/health/live")).statusCode()).isEqualTo(503);
    assertThat(raw("shop.example", "").lines().findFirst().orElseThrow()).contains("403");
    try (PageServer none = PageServer.start(Map.of(), OPEN, "127.0.0.1", 0, null)) {
      URI address = URI.create(none.url());
      assertThat(send(HttpRequest.newBuilder(address.resolve("/health/live"))).body())
          .isEqualTo("no\n");
      HttpResponse<String> page = send(HttpRequest.newBuilder(address));
      assertThat(page.statusCode()).isEqualTo(404);
      assertThat(page.body()).contains("/health/live");
    }
  }

  @Test
  @DisplayName("answers who asks for health while others never end their requests")
  void slow() throws Exception {
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 30; i++) {
        Socket socket = new Socket("127.0.0.1", home.getPort());
        slow.add(socket);
        socket.getOutputStream().write("GET /health/live HT".getBytes(UTF_8));
      }
      HttpRequest.Builder live = to("/health/live").timeout(Duration.ofSeconds(5));
      assertThat(send(live).statusCode()).isEqualTo(503);
    } finally {
      for (Socket socket : slow) {
        socket.close();
      }
    }
  }

  @Test
  @DisplayName("answers HEAD without a body, and without a warning of the JDK's server")
  void head() throws IOException {
    Logger log = Logger.getLogger("com.sun.net.httpserver");
    List<String> logged = new CopyOnWriteArrayList<>();
    log.setFilter(line -> logged.add(line.getMessage()));
    try (Socket socket = new Socket("127.0.0.1", home.getPort())) {
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
      for (int i = 0; i < 2; i++) { // on one connection, where a body would be read as an answer
        socket
            .getOutputStream()
            .write("HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(UTF_8));
        assertThat(lines.lines().takeWhile(line -> !line.isEmpty()))
            .first()
            .isEqualTo("HTTP/1.1 503 Service Unavailable");
      }
    } finally {
      log.setFilter(null);
    }
    assertThat(logged).isEmpty();
  }

  @Test
  @DisplayName("ends at once, and says when it cannot listen")
  void ends() {
    assertThatThrownBy(
            () ->
                PageServer.start(Map.of("", outbox.page), OPEN, "127.0.0.1", home.getPort(), null))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("the server cannot listen at 127.0.0.1, port " + home.getPort());
    server.close();
    assertThatThrownBy(() -> send(to("/"))).isInstanceOf(ConnectException.class);
  }
}
