package dev.outbox.publisher.http;

import dev.outbox.Texts;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.Unanswered;
import dev.outbox.publisher.http.Suspects.Blame;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Sends one message, and says what came of it; shared by all calls. */
final class Sender {
  /** With more origins than this, idle ones are forgotten. */
  private static final int MANY = 1_000;

  private final HttpClient.Builder clients;
  private final Destination destination;
  private final Requests requests;
  private final Timing timing;
  private final int maxInFlight;
  private final EndpointPauses gates = new EndpointPauses();
  private final Map<String, RequestSlots> slots = new ConcurrentHashMap<>();
  private final Several origins = new Several();
  private final Several endpoints = new Several();
  private final Unanswered unanswered = new Unanswered();
  private final Suspects suspects = new Suspects(System::nanoTime);
  private final Set<CompletableFuture<?>> exchanges = ConcurrentHashMap.newKeySet();
  private volatile HttpClient client;
  private volatile boolean closed;

  /**
   * A message that is sent.
   *
   * @param result completes when its request has ended, also when no call waits for it any more
   */
  record Sent(
      StoredMessage message,
      Endpoint endpoint,
      RequestSlots.Slot slot,
      CompletableFuture<Result> result) {}

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
      HttpClient.Builder clients,
      Destination destination,
      Requests requests,
      Timing timing,
      int maxInFlight) {
    this.clients = clients;
    this.client = clients.build();
    this.destination = destination.escaping(HeaderText::encodeForUrl);
    this.requests = requests;
    this.timing = timing;
    this.maxInFlight = maxInFlight;
  }

  /** Ends what is on its way. */
  void close() {
    closed = true;
    exchanges.forEach(exchange -> exchange.cancel(true));
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
    endpoints.use(endpoint.place());
    return endpoint;
  }

  RequestSlots slots(Endpoint endpoint) {
    if (slots.size() > MANY) {
      slots.values().removeIf(RequestSlots::isIdle);
    }
    return slots.computeIfAbsent(
        endpoint.origin(), origin -> new RequestSlots(maxInFlight, timing, System::nanoTime));
  }

  /** What was sent by calls that have left it. */
  Unanswered unanswered() {
    return unanswered;
  }

  /**
   * Until when a call waits for a message.
   *
   * @param sent whether it was sent at {@code since}; else it has waited in line since then
   */
  long waitsUntil(Endpoint endpoint, StoredMessage message, boolean sent, long since) {
    RequestSlots line = slots(endpoint);
    long patience = line.patience(!origins.more, suspects.areAt(endpoint.place()));
    if (sent) {
      return since + (suspects.has(message) ? Timing.IMPATIENCE.toNanos() : patience);
    }
    return line.isFull() ? since : line.inVain(since) + 2 * patience;
  }

  /** A call does not wait any more for a message that it has sent. */
  Result leave(Sent request) {
    Endpoint endpoint = request.endpoint();
    boolean silent = request.slot().leave();
    suspects.watch(request.message(), endpoint.place());
    Result open = unanswered.leave(request.message(), endpoint.name(), request.result());
    return silent && !origins.more
        ? Result.unavailable(endpoint.name() + " does not answer")
        : open;
  }

  /** A call does not wait any more for the turn of a message. */
  Result notSent(Endpoint endpoint, RequestSlots.User waiting) {
    RequestSlots line = slots(endpoint);
    line.forget(waiting);
    return origins.unavailable(
        "not sent to %s, because %s".formatted(endpoint.name(), line.words()), endpoint.origin());
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
   * Sends a message, signed now, and frees its slot in the end. Its result completes in a thread of
   * the client.
   *
   * @throws Requests.NoFieldException when the request could not be made; the slot is still taken
   *     then, and when the client throws
   */
  void send(Sent sent) {
    HttpRequest request;
    CompletableFuture<Answer> answered;
    try {
      request = requests.of(sent.message(), sent.endpoint());
      answered = exchange(request);
    } catch (RuntimeException | Error e) {
      gates.unknown(sent.endpoint().places());
      throw e;
    }
    CompletableFuture<?> unused =
        answered
            .exceptionallyCompose(
                error -> mayBeStale(sent, error) ? exchange(request) : failed(error))
            .handle(
                (answer, error) -> {
                  if (error != null && isOneTooMany(cause(error))) {
                    return refused(sent);
                  }
                  sent.slot().free(error == null);
                  return error == null ? result(sent, answer) : broken(sent, error);
                })
            .whenComplete(
                (result, error) -> {
                  if (error != null) {
                    gates.unknown(sent.endpoint().places());
                  }
                  sent.result()
                      .complete(
                          error == null
                              ? result
                              : Result.failed(
                                  "%s: %s".formatted(sent.endpoint().name(), cause(error))));
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
      return Optional.of("no answer within " + Texts.time(patience));
    } catch (Requests.NoFieldException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private CompletableFuture<Answer> exchange(HttpRequest request) {
    Answer.Reading reading = new Answer.Reading(timing.body());
    HttpClient used = client;
    CompletableFuture<HttpResponse<Answer>> exchange = begin(used, request, reading);
    exchanges.add(exchange);
    return exchange
        .whenComplete((answer, error) -> exchanges.remove(exchange))
        .thenApply(HttpResponse::body)
        .exceptionallyCompose(error -> reading.despite(checked(used, error)));
  }

  /** While the client's thread lives, a request ends by itself before this ends it. */
  private static CompletableFuture<HttpResponse<Answer>> begin(
      HttpClient client, HttpRequest request, Answer.Reading reading) {
    Duration most = request.timeout().orElseThrow().multipliedBy(2);
    try {
      return client.sendAsync(request, reading).orTimeout(most.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * The error. When it says that the client's thread has ended, as by a lack of memory, or may
   * have, because it ended no request in time, another client takes its place, and no message is to
   * blame.
   */
  private Throwable checked(HttpClient used, Throwable error) {
    Throwable cause = cause(error);
    boolean ended =
        cause instanceof RejectedExecutionException
            || cause instanceof TimeoutException
            || "selector manager closed".equals(cause.getMessage());
    if (!ended) {
      return error;
    }
    try {
      synchronized (this) {
        client = client == used ? clients.build() : client;
      }
    } catch (RuntimeException | Error e) { // the next request tries again
      cause.addSuppressed(e);
    }
    return new IOException(
        cause instanceof TimeoutException
            ? "timed out, and the client did not notice: another takes its place"
            : "the client's thread has ended",
        cause);
  }

  private static CompletableFuture<Answer> failed(Throwable error) {
    return CompletableFuture.failedFuture(error);
  }

  private Result result(Sent sent, Answer answer) {
    Endpoint endpoint = sent.endpoint();
    String text = "%s answered %s".formatted(endpoint.name(), answer.words());
    Answer.Kind kind = answer.kind();
    Blame blame = kind == Answer.Kind.TROUBLED ? blame(sent) : Blame.MESSAGE;
    if (kind == Answer.Kind.BUSY || blame == Blame.ENDPOINT) {
      gates.works(List.of(endpoint.origin()));
      gates.inTrouble(endpoint.place(), text, answer.retryAfter(), System.nanoTime());
    } else {
      gates.works(endpoint.places());
    }
    return switch (kind) {
      case DELIVERED -> delivered(sent, answer.status());
      case REJECTED -> Result.rejected(text);
      case FAILED -> Result.failed(text);
      case UNAVAILABLE, BUSY -> endpoints.unavailable(text, endpoint.name());
      case TROUBLED ->
          troubled(blame, text, endpoint, endpoints.unavailable(text, endpoint.name()));
    };
  }

  /** It was not sent, and comes again soon: nobody is to blame. */
  private Result refused(Sent sent) {
    Endpoint endpoint = sent.endpoint();
    sent.slot().refused();
    gates.unknown(endpoint.places());
    return new Result.Unavailable(
        "not sent for now: %s takes no more requests at once".formatted(endpoint.name()),
        endpoint.name(),
        Timing.IMPATIENCE);
  }

  /** The client has nothing but these words for it. */
  private static boolean isOneTooMany(Throwable cause) {
    return "too many concurrent streams".equals(cause.getMessage());
  }

  private Blame blame(Sent sent) {
    return suspects.blame(sent.message(), sent.endpoint().place());
  }

  /** By what is known of the others (P3). */
  private static Result troubled(Blame blame, String text, Endpoint endpoint, Result ofAll) {
    return switch (blame) {
      case MESSAGE -> Result.failed(text + "; others were delivered there in between");
      case UNKNOWN -> Result.unavailable(text, endpoint.name());
      case ENDPOINT -> ofAll;
    };
  }

  /** Keeps the status alone: the body is the endpoint's, and nothing for an archive. */
  private Result delivered(Sent sent, int status) {
    Endpoint endpoint = sent.endpoint();
    suspects.delivered(sent.message(), endpoint.place());
    return Result.delivered(() -> "%s answered %s".formatted(endpoint.name(), status));
  }

  private Result broken(Sent sent, Throwable error) {
    Endpoint endpoint = sent.endpoint();
    Throwable cause = cause(error);
    String text = "%s: %s".formatted(endpoint.name(), words(cause));
    if (cause instanceof HttpConnectTimeoutException && endpoint.isEncrypted()) {
      text += "; the port may be one that speaks no TLS";
    }
    Blame blame = isConnected(cause) ? blame(sent) : Blame.ENDPOINT;
    boolean others = sent.slot().othersAnswered();
    if (blame == Blame.ENDPOINT && isUnreachable(cause)) {
      String place = others ? endpoint.place() : endpoint.origin();
      gates.inTrouble(place, text, null, System.nanoTime());
    }
    gates.unknown(endpoint.places());
    if (closed) {
      return Result.unavailable("the publisher was closed before an answer came");
    }
    return cause instanceof IOException
        ? troubled(
            blame,
            text,
            endpoint,
            others
                ? endpoints.unavailable(text, endpoint.name())
                : origins.unavailable(text, endpoint.origin()))
        : Result.failed(text);
  }

  /** Whether the endpoint may have had the message, so that the message may be to blame. */
  private static boolean isConnected(Throwable cause) {
    return !(isRefused(cause)
        || cause instanceof HttpConnectTimeoutException
        || cause instanceof SSLException);
  }

  /** Also by a proxy that makes no connection to the host; the client has only words for that. */
  private static boolean isRefused(Throwable cause) {
    return cause instanceof ConnectException
        || String.valueOf(cause.getMessage()).startsWith("Tunnel failed");
  }

  /** No connection, no answer, or one that is not HTTP: it will be the same for other messages. */
  private static boolean isUnreachable(Throwable cause) {
    return isRefused(cause)
        || cause instanceof HttpTimeoutException
        || cause instanceof ProtocolException
        || cause instanceof SSLException;
  }

  /**
   * Whether the server may just have closed an idle connection on which the request was sent. The
   * client does not repeat a POST by itself, because it does not know that this one may be
   * repeated. It does not tell on which connection a request was, either; a used one is possible
   * only after an answer. A message whose connection broke before is not sent twice at once.
   */
  private boolean mayBeStale(Sent sent, Throwable error) {
    Throwable cause = cause(error);
    return cause instanceof IOException
        && !isUnreachable(cause)
        && !isOneTooMany(cause)
        && sent.slot().mayReuse()
        && !suspects.has(sent.message())
        && !closed;
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
