package dev.outbox.publisher.http;

import dev.outbox.spi.Destination;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Sends one message, and says what came of it; shared by all calls. */
final class Sender {
  /** Of so many origins some are idle. */
  private static final int MANY = 1_000;

  private final HttpClient client;
  private final Destination destination;
  private final Requests requests;
  private final Timing timing;
  private final int maxInFlight;
  private final Gates gates = new Gates();
  private final Map<String, Slots> slots = new ConcurrentHashMap<>();
  private final Several origins = new Several();
  private final Several endpoints = new Several();
  private volatile boolean closed;

  /** Whether more than one was used: then one in trouble is not the broker as a whole. */
  private static final class Several {
    private volatile @Nullable String one;
    private volatile boolean more;

    void use(String place) {
      String known = one;
      if (known == null) {
        one = place;
      } else if (!more && !known.equals(place)) {
        more = true;
      }
    }

    Result unavailable(String error, String place) {
      return more ? Result.unavailable(error, place) : Result.unavailable(error);
    }
  }

  Sender(
      HttpClient client,
      Destination destination,
      Requests requests,
      Timing timing,
      int maxInFlight) {
    this.client = client;
    this.destination = destination.escaping(HeaderText::encodeForUrl);
    this.requests = requests;
    this.timing = timing;
    this.maxInFlight = maxInFlight;
  }

  void close() {
    closed = true;
  }

  Timing timing() {
    return timing;
  }

  /**
   * Where a message goes.
   *
   * @throws Destination.MissingException when it has no destination
   * @throws IllegalArgumentException when that is no URL that can be used
   */
  Endpoint endpoint(StoredMessage message) {
    Endpoint endpoint = Endpoint.of(destination.of(message));
    origins.use(endpoint.origin());
    endpoints.use(endpoint.name());
    return endpoint;
  }

  Slots slots(Endpoint endpoint) {
    if (slots.size() > MANY) {
      slots.values().removeIf(Slots::isIdle);
    }
    return slots.computeIfAbsent(endpoint.origin(), origin -> new Slots(maxInFlight));
  }

  /** Why nothing is sent there now, or null; what is then sent ends what this begins. */
  @Nullable Result refusal(Endpoint endpoint) {
    if (closed) {
      return Result.unavailable("not sent, because the publisher is closed");
    }
    String trouble = gates.enter(endpoint.places(), System.nanoTime());
    return trouble == null
        ? null
        : endpoints.unavailable("not sent for now: " + trouble, endpoint.name());
  }

  /**
   * Sends a message, signed now, and frees its slot in the end. The result completes in a thread of
   * the client, and is always one.
   *
   * @throws Requests.NoFieldException when the request could not be made; the slot is still taken
   */
  CompletableFuture<Result> send(StoredMessage message, Endpoint endpoint, Slots slots) {
    HttpRequest request;
    try {
      request = requests.of(message, endpoint);
    } catch (RuntimeException e) {
      gates.unknown(endpoint.places());
      throw e;
    }
    return exchange(request)
        .exceptionallyCompose(error -> mayBeStale(error) ? exchange(request) : failed(error))
        .handle(
            (answer, error) -> {
              slots.free(error == null);
              return error == null ? result(endpoint, answer) : broken(endpoint, error);
            });
  }

  /** Why an endpoint does not answer, or does not let us in; empty when it does. */
  Optional<String> unreachable(Endpoint endpoint, Duration patience) throws InterruptedException {
    try {
      Answer answer =
          exchange(requests.question(endpoint, patience))
              .get(patience.toNanos(), TimeUnit.NANOSECONDS);
      return switch (answer.status()) {
        case 401, 403, 407, 429, 502, 503, 504 -> Optional.of("it answered " + answer.words());
        default -> Optional.empty();
      };
    } catch (ExecutionException e) {
      return Optional.of(words(cause(e)));
    } catch (TimeoutException e) {
      return Optional.of("no answer within " + patience);
    } catch (Requests.NoFieldException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private CompletableFuture<Answer> exchange(HttpRequest request) {
    Answer.Reading reading = new Answer.Reading(timing.body());
    return client
        .sendAsync(request, reading)
        .thenApply(HttpResponse::body)
        .exceptionallyCompose(reading::despite);
  }

  private static CompletableFuture<Answer> failed(Throwable error) {
    return CompletableFuture.failedFuture(error);
  }

  private Result result(Endpoint endpoint, Answer answer) {
    String text = "%s answered %s".formatted(endpoint.name(), answer.words());
    if (answer.kind() == Answer.Kind.BUSY) {
      gates.works(List.of(endpoint.origin()));
      gates.inTrouble(endpoint.place(), text, answer.retryAfter(), System.nanoTime());
    } else {
      gates.works(endpoint.places());
    }
    return switch (answer.kind()) {
      case DELIVERED -> delivered(endpoint, answer.status());
      case REJECTED -> Result.rejected(text);
      case FAILED -> Result.failed(text);
      case UNAVAILABLE, BUSY -> endpoints.unavailable(text, endpoint.name());
    };
  }

  /** The body is the endpoint's, and nothing for an archive. */
  private static Result delivered(Endpoint endpoint, int status) {
    return Result.delivered(() -> "%s answered %d".formatted(endpoint.name(), status));
  }

  private Result broken(Endpoint endpoint, Throwable error) {
    Throwable cause = cause(error);
    String text = "%s: %s".formatted(endpoint.name(), words(cause));
    if (isUnreachable(cause)) {
      gates.inTrouble(endpoint.origin(), text, null, System.nanoTime());
    }
    gates.unknown(endpoint.places());
    return cause instanceof IOException
        ? origins.unavailable(text, endpoint.origin())
        : Result.failed(text);
  }

  /** No connection, no answer, or one that is not HTTP: it will be the same for other messages. */
  private static boolean isUnreachable(Throwable cause) {
    return cause instanceof ConnectException
        || cause instanceof HttpTimeoutException
        || cause instanceof ProtocolException
        || cause instanceof SSLException;
  }

  /**
   * Whether it can be that the server had just closed a connection that was kept for further use.
   * The client does not send a POST again by itself, because it does not know that this one may be
   * repeated.
   */
  private static boolean mayBeStale(Throwable error) {
    Throwable cause = cause(error);
    return cause instanceof IOException && !isUnreachable(cause);
  }

  private static Throwable cause(Throwable error) {
    Throwable cause = error.getCause();
    boolean wraps = error instanceof CompletionException || error instanceof ExecutionException;
    return wraps && cause != null ? cause : error;
  }

  /** The client's exceptions often have their words in a cause. */
  private static String words(Throwable error) {
    Throwable said = error;
    while (said.getMessage() == null && said.getCause() != null) {
      said = said.getCause();
    }
    String name = error.getClass().getSimpleName();
    return said.getMessage() == null ? name : name + ": " + said.getMessage();
  }
}
