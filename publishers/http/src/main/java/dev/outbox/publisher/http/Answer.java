package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What an endpoint answered.
 *
 * @param retryAfter how long it asked to be left alone, or null
 * @param text the begin of its body
 */
record Answer(int status, @Nullable Duration retryAfter, String text) {

  /** What a status means (P3). */
  enum Kind {
    DELIVERED,
    REJECTED,
    FAILED,
    /**
     * Something is wrong behind the endpoint, perhaps with this message only ({@link Suspects}).
     */
    TROUBLED,
    /** The endpoint is not there, or does not let us in: it has to be put right. */
    UNAVAILABLE,
    /** The endpoint is overloaded, or what is behind it is away: it is left alone for a while. */
    BUSY
  }

  Kind kind() {
    return switch (status) {
      case 423, 425, 429, 502, 503, 504, 507, 509 -> Kind.BUSY;
      case 520, 521, 522, 523, 524, 525, 526, 527, 530 -> Kind.BUSY; // of a proxy: no origin there
      case 401, 403, 404, 405, 407, 408, 410, 421, 511 -> Kind.UNAVAILABLE;
      case 400, 413, 414, 415, 422, 431 -> Kind.REJECTED;
      default ->
          switch (status / 100) {
            case 2 -> Kind.DELIVERED;
            case 3 -> Kind.UNAVAILABLE;
            case 5 -> Kind.TROUBLED;
            default -> Kind.FAILED;
          };
    };
  }

  /** For people. */
  String words() {
    String said = status / 100 == 3 ? status + ", a redirect, which is not followed" : "" + status;
    return text.isBlank() ? said : said + ": " + text.strip();
  }

  /**
   * Reads the answer to one request. The status decides; the body is only read so that the
   * connection can be used again, and no further than pays.
   */
  static final class Reading implements BodyHandler<Answer> {
    /** The client's words for a 204 that announces a body, of which it tells nothing else. */
    private static final String BODY_WITH_204 = "content length header with 204 response";

    private final Duration patience;
    private volatile @Nullable Reader reader;

    /**
     * @param patience from the status to the end of the body
     */
    Reading(Duration patience) {
      this.patience = patience;
    }

    @Override
    public BodySubscriber<Answer> apply(ResponseInfo info) {
      Reader begun =
          new Reader(
              info.statusCode(),
              info.headers().firstValue("retry-after").map(Answer::retryAfter).orElse(null),
              patience);
      reader = begun;
      return begun;
    }

    /**
     * The answer, when the exchange failed. Where a connection breaks behind the status, the JDK's
     * client tells that now to the reader and now as the failure of all.
     */
    CompletionStage<Answer> despite(Throwable error) {
      Reader begun = reader;
      if (begun == null && String.valueOf(error.getMessage()).endsWith(BODY_WITH_204)) {
        return CompletableFuture.completedFuture(new Answer(204, null, ""));
      }
      if (begun == null) {
        return CompletableFuture.failedFuture(error);
      }
      begun.onError(error);
      return begun.getBody();
    }
  }

  /** A number of seconds, or a time; null when it is neither. */
  static @Nullable Duration retryAfter(String value) {
    try {
      if (value.matches("[0-9]{1,9}")) {
        return Duration.ofSeconds(Long.parseLong(value));
      }
      Instant until = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      Duration time = Duration.between(Instant.now(), until);
      return time.isNegative() ? Duration.ZERO : time;
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  private static final class Reader implements BodySubscriber<Answer> {
    /** Reading more takes longer than making a new connection. */
    private static final int MOST_READ = 64 * 1024;

    private static final int MOST_KEPT = 500;

    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final CompletableFuture<Boolean> end = new CompletableFuture<>();
    private final CompletionStage<Answer> answer;
    private final Duration patience;
    private Flow.@Nullable Subscription subscription;
    private int read;

    private Reader(int status, @Nullable Duration retryAfter, Duration patience) {
      this.patience = patience;
      answer =
          end.handle(
              (whole, broken) -> {
                if (broken != null || !whole) {
                  cancel();
                }
                return new Answer(status, retryAfter, text());
              });
    }

    @Override
    public CompletionStage<Answer> getBody() {
      return answer;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      synchronized (this) {
        subscription = given;
      }
      CompletableFuture<Boolean> unused = end.orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS);
      given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      if (!keep(buffers)) {
        end.complete(false);
      }
    }

    @Override
    public void onError(Throwable error) {
      end.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      end.complete(true);
    }

    private synchronized boolean keep(List<ByteBuffer> buffers) {
      for (ByteBuffer buffer : buffers) {
        read += buffer.remaining();
        byte[] some = new byte[Math.min(MOST_KEPT - kept.size(), buffer.remaining())];
        buffer.get(some);
        kept.writeBytes(some);
      }
      return read <= MOST_READ;
    }

    private synchronized void cancel() {
      if (subscription != null) {
        subscription.cancel();
      }
    }

    private synchronized String text() {
      return kept.toString(UTF_8);
    }
  }
}
