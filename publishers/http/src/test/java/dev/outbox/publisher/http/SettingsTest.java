package dev.outbox.publisher.http;

import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.publisher.http.Receiver.Reply;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the builder and the provider refuse, and what a relay's properties do. */
class SettingsTest {
  private static final String SECRET =
      "whsec_" + Base64.getEncoder().encodeToString("0123456789abcdef01234567".getBytes());

  private static void assertRefused(UnaryOperator<HttpPublisher.Builder> setting, String... words) {
    assertThatThrownBy(
            () ->
                setting
                    .apply(TestMessages.publisher("https://h/").timeout(TestMessages.TIMEOUT))
                    .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(words)
        .hasMessageNotContaining("s3cret")
        .hasNoCause();
  }

  @Test
  @DisplayName("what cannot work is refused when it is built, and secrets are not shown")
  void refused() {
    assertRefused(b -> b.url("https://user:s3cret@h/"), "https://…@h/", "Authorization");
    assertRefused(b -> b.url("https://us:s3cret@er@h/?t=s3cret"), "Authorization");
    assertRefused(b -> b.url("https://user:x/s3cret@h/"), "https://…@h/", "no valid host");
    assertRefused(b -> b.url("https://user:s3cret?x@h/"), "https://…@h/", "no valid host");
    assertRefused(
        b -> b.url("shop.{aggregateType}"), "shop.{aggregateType}".substring(0, 5), "http://");
    assertRefused(b -> b.url("https://h/#s3cret"), "fragment");
    assertRefused(b -> b.url("https://h/../x"), "..");
    assertRefused(b -> b.url("https://h/{nothing}"), "{nothing}");
    assertRefused(b -> b.maxInFlight(0), "maxInFlight is 0", "at least 1");
    assertRefused(b -> b.timeout(Duration.ofMillis(999)), "timeout is 999ms");
    assertRefused(b -> b.requestTimeout(Duration.ofMillis(99)), "requestTimeout is 99ms");
    assertRefused(b -> b.requestTimeout(Duration.ofSeconds(49)), "from 100ms to 48s");
    assertRefused(b -> b.signingSecrets("s3cret"), "whsec_");
    assertRefused(b -> b.signingSecrets("whsec_s3cret!"), "Base64");
    assertRefused(b -> b.signingSecrets("whsec_MfKQ"), "has 3 bytes", "24 to 64");
    assertRefused(b -> b.header("a b", "s3cret"), "the header a b");
    assertRefused(b -> b.header("Host", "s3cret"), "the header Host", "the client sets it");
    for (String ours :
        List.of("Content-Type", "ce-id", "Outbox-Id", "webhook-signature", "Transfer-Encoding")) {
      assertRefused(b -> b.header(ours, "s3cret"), ours);
      assertRefused(b -> b.copiedHeaders(ours), ours);
    }
    assertRefused(b -> b.copiedHeaders("ü"), "ü");
    assertRefused(b -> b.copiedHeaders("Connection"), "the copied header Connection", "itself");
    assertRefused(b -> b.header("X-A", "s3cret").copiedHeaders("x-a"), "x-a", "leave one out");
  }

  @Test
  @DisplayName("destination and source are required")
  void required() {
    assertThatThrownBy(() -> HttpPublisher.builder().cloudEvents(TestMessages.SOURCE).build())
        .hasMessageStartingWith("destination is missing: give the URL");
    assertThatThrownBy(() -> HttpPublisher.builder().url("https://h/").build())
        .hasMessageStartingWith("cloudEvents is missing: give the URI");
  }

  // ---- the provider

  private static MessagePublisher open(Map<String, String> properties) {
    return new HttpPublisherProvider().open(properties, Duration.ofHours(1));
  }

  private static Map<String, String> properties(String url, String... more) {
    Map<String, String> properties = new HashMap<>();
    properties.put("destination", url);
    properties.put("publisher.cloudEventsSource", "https://shop.example/orders");
    for (int i = 0; i < more.length; i += 2) {
      properties.put(more[i], more[i + 1]);
    }
    return properties;
  }

  @Test
  @DisplayName("the provider names its properties, and those that begin as they do")
  void properties() {
    assertThat(new HttpPublisherProvider().properties())
        .contains("destination", "destination.", "http.header.", "http.signingSecrets");
  }

  @Test
  @DisplayName("a relay's properties say where, how, and with which secrets")
  void fromProperties() throws InterruptedException {
    try (Receiver receiver = Receiver.start()) {
      receiver.answer = request -> Reply.of(202);
      MessagePublisher publisher =
          open(
              properties(
                  receiver.url("/{aggregateType}"),
                  "destination.bill",
                  receiver.url("/bills"),
                  "http.mode",
                  "structured",
                  "http.signingSecrets",
                  SECRET + ", " + SECRET,
                  "http.header.Authorization",
                  "Bearer s3cret",
                  "http.copiedHeaders",
                  "tenant other",
                  "http.maxInFlight",
                  "1"));
      assertThat(publisher.address())
          .as("what is asked")
          .isEqualTo(receiver.url("/{aggregateType}"));
      List<Result> results =
          publisher.publish(
              List.of(
                  stored(TestMessages.message("a").header("tenant", "t")),
                  stored(TestMessages.message("b").aggregateType("bill"))));
      assertThat(results).containsOnly(Result.delivered());
      Receiver.Request order = receiver.next();
      assertThat(order.path()).isEqualTo("/order");
      assertThat(order.field("authorization")).isEqualTo("Bearer s3cret");
      assertThat(order.field("tenant")).isEqualTo("t");
      assertThat(order.field("content-type")).startsWith("application/cloudevents+json");
      assertThat(order.field("webhook-signature").split(" ")).hasSize(2);
      assertThat(receiver.next().path()).isEqualTo("/bills");
    }
  }

  @Test
  @DisplayName("properties that cannot work are refused")
  void refusedProperties() {
    assertThatThrownBy(() -> open(Map.of()))
        .hasMessageStartingWith("destination is missing: give the URL");
    assertThatThrownBy(() -> open(Map.of("destination", "https://h/")))
        .hasMessageStartingWith("publisher.cloudEventsSource is missing: give the URI");
    assertThatThrownBy(() -> open(properties("https://h/", "destination.bill", "bills")))
        .hasMessageContaining("the URL bills does not begin with");
    assertThatThrownBy(() -> open(properties("https://h/", "http.mode", "json")))
        .hasMessage("http.mode is json, allowed are binary and structured");
    assertThatThrownBy(() -> open(properties("https://h/", "http.maxInFlight", "many")))
        .hasMessage("http.maxInFlight is many, a whole number is needed");
    assertThatThrownBy(
            () -> open(properties("https://h/", "publisher.cloudEventsSource", "not a URI")))
        .hasMessage("publisher.cloudEventsSource is not a URI, which is no URI");
  }
}
