package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.error;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import io.cloudevents.CloudEvent;
import io.cloudevents.core.message.MessageReader;
import io.cloudevents.http.HttpMessageFactory;
import java.net.http.HttpHeaders;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a request has in it, as it arrives at a server. */
class RequestsTest {
  private static final Receiver receiver = Receiver.start();
  private static final UUID ID = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
  private static final Instant CREATED = Instant.parse("2026-11-20T08:09:10.123456Z");
  private static final String UNICODE = "Grüße, \"100 %\" 世界 😀 ";
  private static final String ATTACK = "x\r\noutbox-id: forged\r\n\r\nPOST / HTTP/1.1\u001b";

  @AfterAll
  static void close() {
    receiver.close();
  }

  private static OutboxMessage.Builder order() {
    return OutboxMessage.builder()
        .id(ID)
        .aggregate("order", "4711")
        .eventType("OrderPlaced")
        .payload("{\"total\": 12.50}");
  }

  private static Receiver.Request sent(HttpPublisher publisher, OutboxMessage.Builder message)
      throws InterruptedException {
    StoredMessage stored = StoredMessage.of(42, 3, CREATED, message.build());
    assertThat(publisher.publish(List.of(stored))).containsExactly(Result.delivered());
    return receiver.next();
  }

  private static HttpPublisher.Builder publisher() {
    return TestMessages.publisher(receiver.url("/events/{aggregateType}"));
  }

  /** As a consumer reads it with the SDK of CloudEvents. */
  private static CloudEvent event(Receiver.Request request) {
    MessageReader reader =
        HttpMessageFactory.createReader(
            with ->
                request
                    .fields()
                    .forEach((name, values) -> values.forEach(value -> with.accept(name, value))),
            request.body());
    return reader.toEvent();
  }

  @Test
  @DisplayName("binary mode: the payload as it is, the attributes as fields")
  void binary() throws InterruptedException {
    OutboxMessage.Builder message =
        order().correlationId("c").dedupKey("d").header("traceparent", "00-1-2-01");
    Receiver.Request request = sent(publisher().build(), message);
    assertThat(request.method()).isEqualTo("POST");
    assertThat(request.path()).isEqualTo("/events/order");
    assertThat(request.body()).isEqualTo("{\"total\": 12.50}".getBytes(UTF_8));
    assertThat(request.fields())
        .containsEntry("content-type", List.of("application/json"))
        .containsEntry("ce-specversion", List.of("1.0"))
        .containsEntry("ce-id", List.of(ID.toString()))
        .containsEntry("ce-source", List.of("https://shop.example/orders"))
        .containsEntry("ce-type", List.of("OrderPlaced"))
        .containsEntry("ce-subject", List.of("4711"))
        .containsEntry("ce-time", List.of("2026-11-20T08:09:10.123456Z"))
        .containsEntry("ce-partitionkey", List.of("4711"))
        .containsEntry("outbox-id", List.of(ID.toString()))
        .containsEntry("outbox-aggregate-type", List.of("order"))
        .containsEntry("outbox-content-type", List.of("application/json"))
        .containsEntry("outbox-sequence", List.of("42"))
        .containsEntry("outbox-dedup-key", List.of("d"))
        .containsEntry("outbox-correlation-id", List.of("c"))
        .containsEntry("outbox-headers", List.of("[[\"traceparent\",\"00-1-2-01\"]]"))
        .containsEntry("traceparent", List.of("00-1-2-01"))
        .doesNotContainKeys("webhook-id", "webhook-signature", "ce-dataschema", "upgrade");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisplayName("the SDK of CloudEvents reads every attribute, Unicode included, in both modes")
  void readBySdk(boolean structured) throws InterruptedException {
    HttpPublisher.Builder publisher = publisher();
    OutboxMessage.Builder message =
        order()
            .aggregateId("id " + UNICODE)
            .eventType("type " + UNICODE)
            .partitionKey("key " + UNICODE)
            .header(Header.DATA_SCHEMA, "https://shop.example/schemas/1");
    CloudEvent event =
        event(sent((structured ? publisher.structured() : publisher).build(), message));
    assertThat(event.getId()).isEqualTo(ID.toString());
    assertThat(event.getSource()).isEqualTo(TestMessages.SOURCE);
    // The SDK leaves fields of HTTP encoded, which CloudEvents want decoded.
    UnaryOperator<String> read = structured ? text -> text : Receiver::decode;
    assertThat(read.apply(event.getType())).isEqualTo("type " + UNICODE);
    assertThat(read.apply(event.getSubject())).isEqualTo("id " + UNICODE);
    assertThat(event.getTime().toInstant()).isEqualTo(CREATED);
    assertThat(read.apply((String) event.getExtension("partitionkey"))).isEqualTo("key " + UNICODE);
    assertThat(event.getDataSchema()).hasToString("https://shop.example/schemas/1");
    assertThat(event.getDataContentType()).isEqualTo("application/json");
    assertThat(new String(event.getData().toBytes(), UTF_8).replace(" ", ""))
        .isEqualTo(structured ? "{\"total\":12.5}" : "{\"total\":12.50}");
  }

  @Test
  @DisplayName("structured mode: JSON stands in the event as it is, all else in Base64")
  void structured() throws InterruptedException {
    HttpPublisher publisher = publisher().structured().build();
    Receiver.Request json = sent(publisher, order());
    assertThat(json.field("content-type")).isEqualTo("application/cloudevents+json; charset=UTF-8");
    assertThat(new String(json.body(), UTF_8))
        .isEqualTo(
            """
            {"specversion":"1.0","id":"01234567-89ab-cdef-0123-456789abcdef",\
            "source":"https://shop.example/orders","type":"OrderPlaced","subject":"4711",\
            "time":"2026-11-20T08:09:10.123456Z","partitionkey":"4711",\
            "datacontenttype":"application/json","data":{"total": 12.50}}""");
    for (String forged : List.of("{},\"id\":\"forged\"", "{}}", "", "\"", "[1,]", "\uFEFF{}")) {
      CloudEvent event = event(sent(publisher, order().payload(forged)));
      assertThat(event.getId()).isEqualTo(ID.toString());
      assertThat(event.getData().toBytes()).isEqualTo(forged.getBytes(UTF_8));
    }
    String text = new String(sent(publisher, order().contentType("text/plain")).body(), UTF_8);
    assertThat(text)
        .contains(
            "\"data_base64\":\""
                + Base64.getEncoder().encodeToString("{\"total\": 12.50}".getBytes(UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisplayName("line ends and names make no field, and a message sets no field of ours")
  void hostile(boolean structured) throws InterruptedException {
    HttpPublisher.Builder publisher =
        publisher().url(receiver.url("/events")).copiedHeaders("tenant", "traceparent");
    OutboxMessage.Builder message =
        order()
            .aggregate(ATTACK, ATTACK)
            .eventType(ATTACK)
            .partitionKey(ATTACK)
            .contentType(ATTACK)
            .correlationId(ATTACK)
            .header("outbox-id", "forged")
            .header("ce-id", "forged")
            .header("Host", "forged")
            .header("Authorization", "forged")
            .header("Transfer-Encoding", "chunked")
            .header("Content-Length", "0")
            .header("tenant", ATTACK)
            .header("traceparent", "a\r\nb: c")
            .header(ATTACK, ATTACK);
    Receiver.Request request =
        sent((structured ? publisher.structured() : publisher).build(), message);
    assertThat(request.fields())
        .containsEntry("outbox-id", List.of(ID.toString()))
        .containsEntry("host", List.of("localhost:" + receiver.port()))
        .doesNotContainKeys("authorization", "transfer-encoding", "tenant", "traceparent", "b");
    assertThat(request.fields().toString()).doesNotContain("\r", "\n");
    assertThat(request.field("content-type"))
        .isIn("application/octet-stream", "application/cloudevents+json; charset=UTF-8");
    for (String name :
        List.of("aggregate-type", "aggregate-id", "event-type", "content-type", "correlation-id")) {
      assertThat(request.decoded("outbox-" + name)).isEqualTo(ATTACK);
    }
    assertThat(request.headers()).isEqualTo(message.build().headers());
    assertThat(event(request).getId()).isEqualTo(ID.toString());
    assertThat(receiver.requests).isEmpty();
  }

  @Test
  @DisplayName("headers that were chosen are fields too, in their order, whatever their case")
  void copied() throws InterruptedException {
    HttpPublisher publisher = publisher().copiedHeaders("X-Tenant", "note").build();
    Receiver.Request request =
        sent(
            publisher,
            order()
                .header("x-tenant", "a")
                .header("X-TENANT", "b")
                .header("note", "ü")
                .header("note", " blank ")
                .header("traceparent", "00-1-2-01"));
    assertThat(request.fields().get("x-tenant")).containsExactly("a", "b");
    assertThat(request.fields()).doesNotContainKeys("note", "traceparent");
    assertThat(request.headers()).hasSize(5);
  }

  @Test
  @DisplayName("placeholders of the URL are escaped, so that a value chooses no other path")
  void escapedUrl() throws InterruptedException {
    HttpPublisher publisher =
        publisher()
            .url(receiver.url("/events/{aggregateType}/{header.tenant}?t={recordKey}"))
            .build();
    Receiver.Request request =
        sent(
            publisher,
            order().aggregateType("a/b?c#d").header("tenant", "../ü").partitionKey("&x=1"));
    assertThat(request.path()).isEqualTo("/events/a%2Fb%3Fc%23d/..%2F%C3%BC");
    StoredMessage dots =
        StoredMessage.of(1, 0, CREATED, order().aggregateType("..").header("tenant", "x").build());
    assertThat(publisher.publish(List.of(dots)).get(0))
        .isInstanceOfSatisfying(
            Result.Rejected.class,
            r -> assertThat(r.error()).contains("has . or .. as a part of its path"));
    assertThat(receiver.requests).isEmpty();
  }

  @Test
  @DisplayName("fields of each request are sent, and those of a function asked for each time")
  void fixedFields() throws InterruptedException {
    int[] calls = new int[1];
    HttpPublisher publisher =
        publisher()
            .header("Authorization", () -> "Bearer " + ++calls[0])
            .header("x-a", "b")
            .build();
    assertThat(sent(publisher, order()).field("authorization")).isEqualTo("Bearer 1");
    Receiver.Request second = sent(publisher, order());
    assertThat(second.field("authorization")).isEqualTo("Bearer 2");
    assertThat(second.field("x-a")).isEqualTo("b");
  }

  @Test
  @DisplayName("while a field's function throws, all is unavailable, and nothing secret is said")
  void noField() throws InterruptedException {
    HttpPublisher publisher =
        publisher()
            .header(
                "Authorization",
                () -> {
                  throw new IllegalStateException("token s3cret");
                })
            .build();
    HttpPublisher broken = publisher().header("Authorization", () -> "s3cret\r\n").build();
    for (HttpPublisher one : List.of(publisher, broken)) {
      Result result = TestMessages.publishOne(one, order());
      assertThat(result).isInstanceOf(Result.Unavailable.class);
      assertThat(error(result)).contains("Authorization").doesNotContain("s3cret");
    }
  }

  // ---- signatures

  /** Those of the specification's own libraries. */
  @Test
  @DisplayName("a signature is that of the published test vector")
  void vector() {
    assertThat(
            Secret.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
                .sign(
                    "msg_p5jXN8AQM9LWM0D4loKWxJek",
                    1614265330,
                    "{\"test\": 2432232314}".getBytes(UTF_8)))
        .isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  }

  private static String secret(String letter, int length) {
    return "whsec_" + Base64.getEncoder().encodeToString(letter.repeat(length).getBytes(UTF_8));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisplayName("the library of Standard Webhooks accepts what arrives, with either of two secrets")
  void verified(boolean structured) throws Exception {
    String old = secret("o", 24);
    String next = secret("n", 64);
    String other = secret("x", 32);
    HttpPublisher.Builder publisher = publisher().signingSecrets(old, next);
    Receiver.Request request =
        sent((structured ? publisher.structured() : publisher).build(), order().payload("\"ü\""));
    assertThat(request.field("webhook-id")).isEqualTo(ID.toString());
    String body = new String(request.body(), UTF_8);
    HttpHeaders fields = HttpHeaders.of(request.fields(), (name, value) -> true);
    new Webhook(old).verify(body, fields);
    new Webhook(next).verify(body, fields);
    Assertions.assertThatThrownBy(() -> new Webhook(other).verify(body, fields))
        .isInstanceOf(WebhookVerificationException.class);
    Assertions.assertThatThrownBy(() -> new Webhook(old).verify(body + " ", fields))
        .isInstanceOf(WebhookVerificationException.class);
  }

  @Test
  @DisplayName("the time of a signature is that of the request, not that of the message")
  void timestamp() throws InterruptedException {
    Instant now = Instant.parse("2027-01-02T03:04:05.999Z");
    HttpPublisher publisher =
        publisher().signingSecrets(secret("s", 24)).build(Clock.fixed(now, ZoneOffset.UTC));
    assertThat(sent(publisher, order()).field("webhook-timestamp"))
        .isEqualTo(Long.toString(now.getEpochSecond()));
  }

  @Test
  @DisplayName("a destination that is no URL rejects its message, and says nothing secret")
  void noUrl() throws InterruptedException {
    for (String url :
        List.of(
            "order",
            "ftp://h/",
            "http://",
            "http:///x",
            "http://u:s3cret@h/",
            "http://h/#f",
            "https://h/a b",
            "http://h:99999999/",
            "http://u:s3cret@h:x y/")) {
      HttpPublisher publisher = publisher().destination(Destination.by(m -> url)).build();
      Result result = TestMessages.publishOne(publisher, order());
      assertThat(result).as(url).isInstanceOf(Result.Rejected.class);
      assertThat(error(result)).doesNotContain("s3cret");
    }
  }
}
