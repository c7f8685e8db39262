package dev.outbox.publisher.nats;

import dev.outbox.spi.publisher.Result;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletionException;

/** Results of what was not delivered (P3). */
final class UndeliveredResults {
  /** Larger than the stream allows, and headers larger than JetStream does. */
  private static final Set<Integer> TOO_LARGE = Set.of(10054, 10097);

  /**
   * Not errors of the server by their code, and yet not the message's: limits of the account, a
   * sealed stream, an earlier try of the message that is still under way, too many requests.
   */
  private static final Set<Integer> NOT_NOW = Set.of(10002, 10109, 10158, 10167);

  private static final int SERVERS_FAULT = 500;

  /** The client has nothing but these words for the server's answer that nobody listens. */
  private static final String NO_STREAM = " 503 ";

  private UndeliveredResults() {}

  /** The cause that says what happened. */
  static Throwable cause(Throwable error) {
    Throwable cause = error.getCause();
    boolean wraps =
        error instanceof CompletionException || error.getClass() == RuntimeException.class;
    return wraps && cause != null ? cause(cause) : error;
  }

  /**
   * What a message's error means, where the connection is as it was.
   *
   * @param error a {@link #cause}
   * @param place as {@link Subjects#place}
   */
  static Result result(Throwable error, String subject, String place) {
    String text = "%s: %s".formatted(subject, words(error));
    if (error instanceof JetStreamApiException e) {
      if (TOO_LARGE.contains(e.getApiErrorCode())) {
        return Result.rejected(text);
      }
      return e.getErrorCode() >= SERVERS_FAULT || NOT_NOW.contains(e.getApiErrorCode())
          ? Result.unavailable(text, place)
          : Result.failed(text);
    }
    if (error instanceof IllegalArgumentException) {
      return Result.rejected(text);
    }
    if (error instanceof IOException && String.valueOf(error.getMessage()).contains(NO_STREAM)) {
      return Result.unavailable(
          "no stream has the subject %s: make one that has it; if there is one, it has no leader now"
              .formatted(subject),
          place);
    }
    // Something else than a stream answered, say.
    return error instanceof IOException || error instanceof Link.NoPermissionException
        ? Result.unavailable(text, place)
        : Result.failed(text);
  }

  private static String words(Throwable error) {
    String message = String.valueOf(error.getMessage());
    return error instanceof JetStreamApiException || error instanceof Link.NoPermissionException
        ? message
        : error.getClass().getSimpleName() + ": " + message;
  }
}
