package dev.outbox.publisher.http;

import static java.util.Objects.requireNonNull;

import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Publishes each message as a CloudEvent 1.0 in a POST request of its own. Safe for use by many
 * threads, as long as calls at the same time have no key in common; claims have none (C1).
 *
 * <p><b>Order (P2).</b> One request of a key is on its way at a time; the next one is sent when it
 * was answered with 2xx. Keys go side by side, with at most {@link Builder#maxInFlight} requests on
 * their way to one host.
 *
 * <p><b>A request.</b> In binary mode, the default, the body is the payload and {@code
 * Content-Type} is the message's. {@linkplain
 * dev.outbox.publisher.core.Attributes#forEachOfCloudEvent The attributes of the event} are header
 * fields, as {@code ce-id}. In {@linkplain Builder#structured structured mode} they are members of
 * a JSON document, which is the body. In both modes {@linkplain
 * dev.outbox.publisher.core.Attributes#forEach the library's attributes} come along (P4), with
 * {@code outbox-content-type} in place of {@code content-type}, and where the message has headers
 * {@code outbox-headers}. Values of {@code ce-} and {@code outbox-} fields are percent-encoded as
 * CloudEvents say, but for {@code outbox-headers}: that one is {@code [["name","value"],…]}, the
 * message's own headers as JSON in ASCII. Of those, the ones named in {@link Builder#copiedHeaders}
 * are fields of their own too.
 *
 * <p><b>Results (P3).</b>
 *
 * <ul>
 *   <li>delivered: 2xx;
 *   <li>rejected: 400, 413, 414, 415, 422, 431, and a destination that is no URL;
 *   <li>unavailable: no connection, no certificate that we trust, 401, 403, 404, 405, 407, 408,
 *       410, 421, 423, 425, 429, 502, 503, 504, 507, 509, 511, 520 to 527, 530, and redirects,
 *       which are not followed;
 *   <li>unavailable, or failed when it happened three times and others of the endpoint were
 *       delivered in between: no answer in time, a connection that breaks, and other 5xx, as 500;
 *   <li>failed: anything else.
 * </ul>
 *
 * <p>The destination that is unavailable is the host or the endpoint; as long as the publisher has
 * used only one, it is the broker as a whole. A host that cannot be reached, and an endpoint in
 * trouble, get no requests for a while. That is a quarter of a second up to eight, or what {@code
 * Retry-After} says, up to an hour. Meanwhile its messages are unavailable at once.
 *
 * <p>A call does not wait long for a slow endpoint: it returns, and the request goes on; see {@link
 * dev.outbox.publisher.core.Unanswered}.
 *
 * <p>An answer counts as soon as its status is there; of the body at most 64 KiB are read.
 */
public final class HttpPublisher implements MessagePublisher {

  /** The default of {@link Builder#timeout}. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(20);

  /** The default of {@link Builder#maxInFlight}. */
  public static final int DEFAULT_MAX_IN_FLIGHT = 64;

  /** The default of {@link Builder#copiedHeaders}: what carries a trace. */
  public static final Set<String> DEFAULT_COPIED_HEADERS =
      Set.of("traceparent", "tracestate", "baggage");

  private final Sender sender;
  private final @Nullable Endpoint asked;

  private HttpPublisher(Sender sender, @Nullable Endpoint asked) {
    this.sender = sender;
    this.asked = asked;
  }

  /** Starts with the defaults that each setter names. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns within the timeout (P5); see {@link HttpPublisher} for the results. */
  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    return new Call(sender, messages).run();
  }

  /**
   * Ends the requests that are on their way. The JDK's client ends its threads and connections when
   * it is garbage.
   */
  @Override
  public void close() {
    sender.close();
  }

  /**
   * What {@link Builder#url} was given, without what may be secret; null where that names no host.
   * Other destinations are not asked.
   */
  @Override
  public @Nullable String address() {
    return asked == null ? null : asked.name();
  }

  /**
   * Asks the {@link #address} by OPTIONS. An answer will do, unless it is one of 401, 403, 407,
   * 429, 502, 503 and 504. Without an address nothing is asked, and the result is empty.
   */
  @Override
  public Optional<String> unreachable(Duration patience) throws InterruptedException {
    return asked == null ? Optional.empty() : sender.unreachable(asked, patience);
  }

  /** Collects the settings; {@link #build()} checks them. Not safe for use by many threads. */
  public static final class Builder {
    private static final Pattern OURS =
        Pattern.compile("(?i)content-.*|ce-.*|outbox-.*|webhook-.*|transfer-encoding|te|trailer");

    private @Nullable Destination destination;
    private @Nullable Endpoint asked;
    private @Nullable URI source;
    private boolean structured;
    private final List<String> secrets = new ArrayList<>();
    private final Map<String, Supplier<String>> fixed = new LinkedHashMap<>();
    private Set<String> copied = DEFAULT_COPIED_HEADERS;
    private Duration timeout = DEFAULT_TIMEOUT;
    private @Nullable Duration requestTimeout;
    private int maxInFlight = DEFAULT_MAX_IN_FLIGHT;
    private @Nullable SSLContext sslContext;

    private Builder() {}

    /**
     * The URL of a message; required. What placeholders stand for is percent-encoded. A URL has no
     * user or password in it: give them as a {@link #header}. After {@link #url}, that one's host
     * is still asked for a sign of life.
     */
    public Builder destination(Destination destination) {
      this.destination = requireNonNull(destination, "destination");
      return this;
    }

    /**
     * {@link #destination} with this pattern, and the host that is asked for a sign of life: as
     * {@code https://shop.example/events} or {@code https://shop.example/{aggregateType}}.
     *
     * @throws IllegalArgumentException when that is no URL
     */
    public Builder url(String pattern) {
      asked = Endpoint.ofPattern(pattern).orElse(null);
      return destination(Destination.pattern(pattern));
    }

    /** The source of the events, as CloudEvents want it: a URI that says who sends; required. */
    public Builder cloudEvents(URI source) {
      this.source = requireNonNull(source, "source");
      return this;
    }

    /**
     * Sends each event as one JSON document, {@code application/cloudevents+json}. A payload of a
     * JSON content type that is JSON stands in it as {@code data}, as it is; any other as {@code
     * data_base64}. Default: binary mode.
     */
    public Builder structured() {
      this.structured = true;
      return this;
    }

    /**
     * Signs each request as Standard Webhooks say: {@code webhook-id}, {@code webhook-timestamp}
     * and {@code webhook-signature}, over the message's id, the time of the request and the body.
     * In binary mode the attributes are not part of the body, and so not signed. Default: no
     * signature.
     *
     * @param secrets each {@code whsec_} and then 24 to 64 bytes in Base64; with several, as while
     *     one replaces another, each gives a signature
     */
    public Builder signingSecrets(String... secrets) {
      this.secrets.addAll(List.of(secrets));
      return this;
    }

    /** A header field of each request, as {@code Authorization}. Its value is in no error. */
    public Builder header(String name, String value) {
      requireNonNull(value, "value of " + name);
      return header(name, () -> value);
    }

    /**
     * A header field whose value is asked for before each request: a token that expires. While the
     * function throws, all is unavailable.
     *
     * @param value quick, safe for use by many threads
     */
    public Builder header(String name, Supplier<String> value) {
      fixed.put(requireNonNull(name, "name"), requireNonNull(value, "value of " + name));
      return this;
    }

    /**
     * Names of the message's own headers that become header fields too, where their values are
     * visible ASCII: for receivers that do not read {@code outbox-headers}. Names do not differ by
     * case. Default: {@link #DEFAULT_COPIED_HEADERS}. Whoever appends messages chooses the values:
     * name nothing that your servers trust.
     */
    public Builder copiedHeaders(String... names) {
      this.copied = Set.of(names);
      return this;
    }

    /**
     * How long {@link HttpPublisher#publish} takes at most; default {@link #DEFAULT_TIMEOUT}, at
     * least one second. It must be below the relay's publish timeout.
     */
    public Builder timeout(Duration timeout) {
      this.timeout = requireNonNull(timeout, "timeout");
      return this;
    }

    /**
     * How long one request may take, with its answer; default half of the {@link #timeout}, at most
     * four fifths of it. A call begins no request that could end after the call.
     */
    public Builder requestTimeout(Duration requestTimeout) {
      this.requestTimeout = requireNonNull(requestTimeout, "requestTimeout");
      return this;
    }

    /**
     * How many requests may be on their way to one host, with those that no call waits for; default
     * {@link #DEFAULT_MAX_IN_FLIGHT}, at least 1. With HTTP/1.1 each has a connection of its own.
     * With HTTP/2 all share one, and the server allows so many, often 100; where it is fewer, the
     * publisher keeps to that.
     */
    public Builder maxInFlight(int maxInFlight) {
      this.maxInFlight = maxInFlight;
      return this;
    }

    /** Whom to trust, and who we are, for {@code https}; default: what the JVM does. */
    public Builder sslContext(SSLContext sslContext) {
      this.sslContext = requireNonNull(sslContext, "sslContext");
      return this;
    }

    /**
     * Checks and builds; connects to nothing yet.
     *
     * @throws IllegalArgumentException naming the setting, its value and what to do, without
     *     secrets
     */
    public HttpPublisher build() {
      return build(Clock.systemUTC());
    }

    HttpPublisher build(Clock clock) {
      Destination to =
          given(
              destination,
              "destination",
              "the URL of the endpoint, as https://shop.example/events");
      URI from =
          given(source, "cloudEvents", "the URI of what sends, as https://shop.example/orders");
      if (maxInFlight < 1) {
        throw new IllegalArgumentException(
            "maxInFlight is %s, at least 1 is needed".formatted(maxInFlight));
      }
      fixed.keySet().forEach(name -> check("header", name));
      copied.forEach(this::checkCopied);
      Timing timing = Timing.of(timeout, requestTimeout);
      Requests requests =
          new Requests(
              from,
              structured,
              secrets.stream().map(Secret::of).toList(),
              copied.stream()
                  .map(name -> name.toLowerCase(Locale.ROOT))
                  .collect(Collectors.toSet()),
              Map.copyOf(fixed),
              timing.head(),
              clock);
      HttpClient.Builder client =
          HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER);
      if (sslContext != null) {
        client.sslContext(sslContext);
      }
      return new HttpPublisher(new Sender(client, to, requests, timing, maxInFlight), asked);
    }

    private void checkCopied(String name) {
      check("copied header", name);
      if (fixed.keySet().stream().anyMatch(name::equalsIgnoreCase)) {
        throw new IllegalArgumentException(
            "the header %s is given for each request, and copied from messages: leave one out"
                .formatted(name));
      }
    }

    private static void check(String what, String name) {
      if (!HeaderText.isName(name)) {
        throw new IllegalArgumentException(
            "the %s %s has a name that HTTP does not have: take letters, digits and hyphens"
                .formatted(what, name));
      }
      if (OURS.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "the %s %s has the name of one that the publisher sets: take another"
                .formatted(what, name));
      }
      try {
        HttpRequest.Builder unused = HttpRequest.newBuilder().header(name, "x");
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "the %s %s cannot be set: the client sets it itself".formatted(what, name));
      }
    }

    private static <T> T given(@Nullable T value, String name, String what) {
      if (value == null) {
        throw new IllegalArgumentException("%s is missing: give %s".formatted(name, what));
      }
      return value;
    }
  }
}
