package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.error;
import static dev.outbox.embedded.TestMessages.stored;
import static dev.outbox.publisher.http.TestMessages.message;
import static dev.outbox.publisher.http.TestMessages.publishOne;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse.ResponseInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Servers that answer slowly, without end, or with what is not HTTP. None may hold up a call (P5).
 */
class BrokenAnswersTest {
  private static final String OK = "HTTP/1.1 200 OK\r\n";
  private static final String REFUSED = "HTTP/1.1 422 Unprocessable\r\n";
  private static final String CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";

  /** So that a slow one costs a test two seconds. */
  private static HttpPublisher publisher(RawServer server) {
    return TestMessages.publisher(server.url()).requestTimeout(Duration.ofSeconds(2)).build();
  }

  /** For what takes that long in any case. */
  private static HttpPublisher brief(String url) {
    return TestMessages.publisher(url).requestTimeout(Duration.ofMillis(500)).build();
  }

  /** Writes the same again and again, until the client closes the connection. */
  private static boolean endlessly(OutputStream out, String text, AtomicLong written)
      throws IOException {
    while (true) {
      RawServer.write(out, text);
      written.addAndGet(text.length());
    }
  }

  private static boolean drip(OutputStream out, String text) throws IOException {
    while (true) {
      RawServer.write(out, text);
      LockSupport.parkNanos(50_000_000);
    }
  }

  @Test
  @DisplayName("a body without end is cut off, and the status counts")
  void endlessBody() throws Exception {
    for (String head : List.of(OK, REFUSED)) {
      AtomicLong written = new AtomicLong();
      try (RawServer server =
          RawServer.start(
              (number, out) -> {
                RawServer.write(out, head + CHUNKED);
                return endlessly(out, "400\r\n" + "x".repeat(1024) + "\r\n", written);
              })) {
        Result result = publishOne(publisher(server), message("k"));
        if (head.equals(OK)) {
          assertThat(result).isEqualTo(Result.delivered());
        } else {
          assertThat(result).isInstanceOf(Result.Rejected.class);
          assertThat(error(result)).contains("answered 422: xxx").hasSizeLessThan(700);
        }
        await().until(server.connections::isEmpty);
        assertThat(written.get()).isLessThan(20_000_000);
      }
    }
  }

  @Test
  @DisplayName("a body that comes slowly is not waited for, and the status counts")
  void slowBody() throws Exception {
    try (RawServer server =
        RawServer.start(
            (number, out) -> {
              RawServer.write(out, REFUSED + "Content-Length: 100000\r\n\r\nslow");
              return drip(out, "x");
            })) {
      Result result = publishOne(publisher(server), message("k"));
      assertThat(result).isInstanceOf(Result.Rejected.class);
      assertThat(error(result)).contains("answered 422: slow");
      await().until(server.connections::isEmpty);
    }
  }

  @Test
  @DisplayName("a body that ends too early does not matter, and the status counts")
  void shortBody() throws Exception {
    try (RawServer server = RawServer.saying(OK + "Content-Length: 100\r\n\r\nshort")) {
      assertThat(publishOne(publisher(server), message("k"))).isEqualTo(Result.delivered());
      assertThat(server.requests).hasValue(1);
    }
  }

  @Test
  @DisplayName("where the client calls a broken body a failure of all, the status counts, too")
  void failureBehindStatus() {
    IOException failure = new IOException("fixed content-length: 100, bytes received: 5");
    Answer.Reading reading = new Answer.Reading(Duration.ofSeconds(60));
    assertThat(reading.despite(failure).toCompletableFuture())
        .as("before there was a status")
        .isCompletedExceptionally();
    var unused = reading.apply(answered(422));
    assertThat(reading.despite(failure).toCompletableFuture())
        .isCompletedWithValue(new Answer(422, null, ""));
  }

  private static ResponseInfo answered(int status) {
    return new ResponseInfo() {
      @Override
      public int statusCode() {
        return status;
      }

      @Override
      public HttpHeaders headers() {
        return HttpHeaders.of(Map.of(), (name, value) -> true);
      }

      @Override
      public HttpClient.Version version() {
        return HttpClient.Version.HTTP_1_1;
      }
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nX-Slow: ", "HTTP/1.1 2"})
  @DisplayName("an answer whose begin comes slowly is given up in time: unavailable")
  void slowHead(String begin) throws Exception {
    try (RawServer server =
        RawServer.start(
            (number, out) -> {
              RawServer.write(out, begin);
              return drip(out, begin.contains("X-") ? "x" : "");
            })) {
      Result result = publishOne(brief(server.url()), message("k"));
      assertThat(result).isInstanceOf(Result.Unavailable.class);
      assertThat(error(result)).contains("localhost", "timed out");
    }
  }

  @Test
  @DisplayName("fields without end are cut off: unavailable")
  void endlessHead() throws Exception {
    AtomicLong written = new AtomicLong();
    try (RawServer server =
        RawServer.start(
            (number, out) -> {
              RawServer.write(out, OK);
              return endlessly(out, "X-A: " + "x".repeat(1000) + "\r\n", written);
            })) {
      Result result = publishOne(publisher(server), message("k"));
      assertThat(result).isInstanceOf(Result.Unavailable.class);
      // The JDK's client stops to read, but leaves the connection to the server to close.
      assertThat(error(result)).contains("ProtocolException: Header size too big");
      assertThat(written.get()).isLessThan(20_000_000);
      assertThat(server.requests).as("left alone then").hasValue(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbroken",
        "\r\n\r\n\r\n\r\n"
      })
  @DisplayName("what is not HTTP is unavailable, and was tried twice at most")
  void noHttp(String answer) throws Exception {
    try (RawServer server = RawServer.saying(answer)) {
      Result result = publishOne(publisher(server), message("k"));
      assertThat(result).isInstanceOf(Result.Unavailable.class);
      assertThat(error(result)).startsWith(server.url());
      assertThat(server.requests.get()).isBetween(1, 2);
    }
  }

  @Test
  @DisplayName("a connection that the server closes while nobody uses it costs nothing")
  void staleConnection() throws Exception {
    try (RawServer server =
        RawServer.saying(OK + "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n")) {
      HttpPublisher publisher = publisher(server);
      for (int i = 0; i < 20; i++) {
        assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
      }
    }
  }

  @Test
  @DisplayName(
      "a request whose connection breaks is sent once more, where it may have been a used one")
  void brokenConnection() throws Exception {
    try (RawServer server =
        RawServer.start(
            (number, out) -> {
              if (number % 2 == 0) {
                RawServer.write(out, OK + "Content-Length: 0\r\n\r\n");
              }
              return number % 2 == 0;
            })) {
      HttpPublisher publisher = publisher(server);
      assertThat(publishOne(publisher, message("a"))).isInstanceOf(Result.Unavailable.class);
      assertThat(server.requests).as("the first one of all").hasValue(1);
      assertThat(publishOne(publisher, message("b"))).isEqualTo(Result.delivered());
      assertThat(publishOne(publisher, message("c"))).isEqualTo(Result.delivered());
      assertThat(server.requests).hasValue(4);
    }
  }

  @Test
  @DisplayName("a message that is reset each time is sent twice at most, then once, and fails")
  void reset() throws Exception {
    try (Receiver receiver = Receiver.start()) {
      AtomicInteger resets = new AtomicInteger();
      receiver.answer =
          request -> {
            if (request.field("ce-subject").equals("poison")) {
              resets.incrementAndGet();
              throw new IllegalStateException("the server then closes the connection");
            }
            return Receiver.Reply.of(204);
          };
      HttpPublisher publisher = TestMessages.publisher(receiver.url("/")).build();
      assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
      StoredMessage poison = stored(message("poison"));
      for (int i = 1; i < Suspects.ENOUGH; i++) {
        Result result = publishOne(publisher, poison);
        assertThat(result)
            .as("it alone waits")
            .isInstanceOfSatisfying(
                Result.Unavailable.class, u -> assertThat(u.destination()).isNotNull());
        assertThat(resets).hasValue(1 + i);
        assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
      }
      assertThat(publishOne(publisher, poison)).isInstanceOf(Result.Failed.class);
      assertThat(resets).hasValue(1 + Suspects.ENOUGH);
    }
  }

  @Test
  @DisplayName("a 204 that announces a body is delivered, though the client refuses it")
  void bodyWith204() throws Exception {
    try (RawServer server =
        RawServer.saying("HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok")) {
      HttpPublisher publisher = publisher(server);
      for (int i = 1; i <= 3; i++) {
        assertThat(publishOne(publisher, message("k"))).isEqualTo(Result.delivered());
        assertThat(server.requests).hasValue(i);
      }
    }
  }

  @Test
  @DisplayName("https to a port that does not speak it says so")
  void plainPort() throws Exception {
    try (RawServer server = RawServer.silent()) {
      String url = server.url().replace("http:", "https:");
      assertThat(error(publishOne(brief(url), message("k"))))
          .contains("connect timed out; the port may be one that speaks no TLS");
    }
  }
}
