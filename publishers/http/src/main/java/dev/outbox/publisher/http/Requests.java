package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.AsciiJson;
import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.JsonText;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * From a message to its request, as the user has chosen; see {@link HttpPublisher} for what is
 * where (P4).
 *
 * @param copied names of a message's own headers, in lower case, that become fields too
 * @param fixed fields of each request
 * @param timeout until a request's answer begins
 */
record Requests(
    URI source,
    boolean structured,
    List<Secret> secrets,
    Set<String> copied,
    Map<String, Supplier<String>> fixed,
    Duration timeout,
    Clock clock) {

  private static final String CONTENT_TYPE = "content-type";
  private static final String BYTES = "application/octet-stream";
  private static final Pattern JSON =
      Pattern.compile("(?i)[\\w.+-]+/(?:[\\w.+-]+\\+)?json *(?:;.*)?");

  /** A field of each request could not be made; no message is to blame. */
  static final class NoFieldException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private NoFieldException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * The request, signed now.
   *
   * @throws NoFieldException when a function of the user's gives no value for a field
   */
  HttpRequest of(StoredMessage stored, Endpoint endpoint) {
    OutboxMessage message = stored.message();
    HttpRequest.Builder request = to(endpoint, timeout);
    byte[] body = structured ? structured(request, stored) : binary(request, message);
    Attributes.forEachEncoded(stored, structured ? null : source, request::header);
    addHeaders(request, message.headers());
    if (!secrets.isEmpty()) {
      sign(request, message.id().toString(), body);
    }
    return request.POST(BodyPublishers.ofByteArray(body)).build();
  }

  /** A question that publishes nothing. */
  HttpRequest question(Endpoint endpoint, Duration patience) {
    return to(endpoint, patience).method("OPTIONS", BodyPublishers.noBody()).build();
  }

  /**
   * With the fields that all requests have. HTTP/2 is spoken only with TLS, where the server offers
   * it in the handshake. Without TLS the client would have to ask for it in a header, which some
   * servers take for an error.
   */
  private HttpRequest.Builder to(Endpoint endpoint, Duration timeout) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint.uri())
            .version(
                endpoint.isEncrypted() ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1)
            .timeout(timeout);
    fixed.forEach((name, value) -> addFixed(request, name, value));
    return request;
  }

  private static void addFixed(HttpRequest.Builder request, String name, Supplier<String> value) {
    try {
      request.header(name, value.get());
    } catch (RuntimeException e) {
      // Its words may have the value in them, which may be secret.
      throw new NoFieldException(
          "no value for the header %s could be made: %s".formatted(name, e.getClass().getName()),
          e);
    }
  }

  /** In binary mode the attributes are fields, and the body is the payload. */
  private static byte[] binary(HttpRequest.Builder request, OutboxMessage message) {
    request.header(CONTENT_TYPE, contentType(message));
    return message.payload();
  }

  /** In structured mode the body is the whole event, as JSON. */
  private byte[] structured(HttpRequest.Builder request, StoredMessage stored) {
    request.header(CONTENT_TYPE, "application/cloudevents+json; charset=UTF-8");
    OutboxMessage message = stored.message();
    StringBuilder event = new StringBuilder("{");
    Attributes.forEachOfCloudEvent(
        stored, source, (name, value) -> member(event, name, value).append(','));
    String type = contentType(message);
    member(event, "datacontenttype", type).append(',');
    byte[] payload = message.payload();
    Optional<String> json = JSON.matcher(type).matches() ? JsonText.of(payload) : Optional.empty();
    if (json.isPresent()) {
      event.append("\"data\":").append(json.get());
    } else {
      member(event, "data_base64", Base64.getEncoder().encodeToString(payload));
    }
    return event.append('}').toString().getBytes(UTF_8);
  }

  private static StringBuilder member(StringBuilder event, String name, String value) {
    return event.append('"').append(name).append("\":").append(AsciiJson.text(value));
  }

  /** What HTTP cannot say is in {@code outbox-content-type} only. */
  private static String contentType(OutboxMessage message) {
    return HeaderText.isPlain(message.contentType()) ? message.contentType() : BYTES;
  }

  /**
   * All of them as JSON, because HTTP loses the order of different names, their case, and all but
   * ASCII. As fields only those that were chosen: nobody who appends a message can set a field that
   * means something to a server.
   */
  private void addHeaders(HttpRequest.Builder request, List<Header> headers) {
    if (headers.isEmpty()) {
      return;
    }
    request.header("outbox-headers", AsciiJson.headers(headers));
    for (Header header : headers) {
      String name = header.name().toLowerCase(Locale.ROOT);
      if (copied.contains(name) && HeaderText.isPlain(header.value())) {
        request.header(name, header.value());
      }
    }
  }

  private void sign(HttpRequest.Builder request, String id, byte[] body) {
    long timestamp = clock.instant().getEpochSecond();
    request.header("webhook-id", id);
    request.header("webhook-timestamp", Long.toString(timestamp));
    request.header(
        "webhook-signature",
        secrets.stream()
            .map(secret -> secret.sign(id, timestamp, body))
            .collect(Collectors.joining(" ")));
  }
}
