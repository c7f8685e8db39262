package dev.outbox.relay;

import dev.outbox.spi.Decision;
import dev.outbox.spi.ErrorText;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Writes events to the log, with names and numbers but no payloads and no headers. What repeats
 * (failing retries, a store that is down) is a warning once for each different text, and debug
 * after that.
 */
final class LoggingListener implements RelayListener {
  private static final String AGAIN = "{} is tried again in {}: {}";

  private final Logger log;
  private final Map<String, String> last = new ConcurrentHashMap<>();

  LoggingListener(Logger log) {
    this.log = log;
  }

  /** A warning when the text is not the last one about this subject, else debug. */
  private void warn(String subject, String text, @Nullable Throwable cause) {
    if (!text.equals(last.put(subject, text))) {
      log.warn("{}", printable(text), cause);
    } else if (log.isDebugEnabled()) {
      log.debug("{}", printable(text), cause);
    }
  }

  @Override
  public void started(String relay, int workers) {
    log.info("Relay {} started with {} workers", relay, workers);
  }

  @Override
  public void delivered(StoredMessage message) {
    if (log.isTraceEnabled()) {
      log.trace("Delivered {}", printable(message));
    }
  }

  @Override
  public void retried(StoredMessage message, Decision.Retry decision) {
    String error = decision.error();
    if (!error.equals(last.put("retry", error))) {
      log.warn(AGAIN, printable(message), decision.delay(), printable(error));
    } else if (log.isDebugEnabled()) {
      log.debug(AGAIN, printable(message), decision.delay(), printable(error));
    }
  }

  @Override
  public void deadLettered(StoredMessage message, Decision.Dead decision) {
    log.error(
        "{} is a dead letter{}: {}",
        printable(message),
        decision.blocksKey() ? " and blocks its key" : "",
        printable(decision.error()));
  }

  @Override
  public void unavailable(StoredMessage message, Result.Unavailable result) {
    String destination = result.destination();
    if (destination != null) {
      warn("unavailable", destination + " cannot be reached: " + result.error(), null);
    }
  }

  @Override
  public void leaseLost(String worker, List<StoredMessage> messages) {
    log.warn(
        "{} lost the lease of {} messages, first {}", worker, messages.size(), first(messages));
  }

  @Override
  public void abandoned(String worker, List<StoredMessage> messages, String reason) {
    log.warn(
        "{} left {} messages, first {}, until their lease is over: {}",
        worker,
        messages.size(),
        first(messages),
        printable(reason));
  }

  @Override
  public void publisherBroken(String worker, String problem, @Nullable Throwable cause) {
    warn("publisher", "The publisher broke its contract: " + problem, cause);
  }

  @Override
  public void breakerOpened(String error) {
    log.warn("The broker cannot be reached, the relay pauses: {}", printable(error));
  }

  @Override
  public void breakerClosed() {
    log.info("The broker can be reached again");
  }

  @Override
  public void storeFailed(String who, String operation, RuntimeException error) {
    warn("store " + who, "%s failed on %s: %s".formatted(operation, who, text(error)), error);
  }

  @Override
  public void storeRecovered(String worker) {
    last.remove("store " + worker);
    log.info("The store works again for {}", worker);
  }

  @Override
  public void callbackFailed(String setting, StoredMessage message, RuntimeException error) {
    warn(setting, "%s failed on a message: %s".formatted(setting, text(error)), error);
  }

  @Override
  public void stopped(String relay, int unfinished) {
    if (unfinished == 0) {
      log.info("Relay {} stopped", relay);
    } else {
      log.warn(
          "Relay {} stopped, but {} of its threads are still inside the store or the publisher;"
              + " what they hold is claimed again after its lease",
          relay,
          unfinished);
    }
  }

  private static String first(List<StoredMessage> messages) {
    return messages.isEmpty() ? "none" : printable(messages.get(0));
  }

  /** Keys and errors are others' texts: none may look like a line of the log. */
  private static String printable(Object text) {
    return ErrorText.printable(text.toString());
  }

  private static String text(Throwable error) {
    String message = error.getMessage();
    return message != null ? message : error.toString();
  }
}
