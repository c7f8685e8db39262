package dev.outbox.relay;

import dev.outbox.spi.Decision;
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
  private final Logger log;
  private final Map<String, String> last = new ConcurrentHashMap<>();

  LoggingListener(Logger log) {
    this.log = log;
  }

  /** A warning when the text is not the last one about this subject, else debug. */
  private void warn(String subject, String text, @Nullable Throwable cause) {
    if (!text.equals(last.put(subject, text))) {
      log.warn("{}", text, cause);
    } else {
      log.debug("{}", text, cause);
    }
  }

  @Override
  public void started(String relay, int workers) {
    log.info("Relay {} started with {} workers", relay, workers);
  }

  @Override
  public void delivered(StoredMessage message) {
    log.trace("Delivered {}", message);
  }

  @Override
  public void retried(StoredMessage message, Decision.Retry decision) {
    String error = decision.error();
    if (!error.equals(last.put("retry", error))) {
      log.warn("{} is tried again in {}: {}", message, decision.delay(), error);
    } else {
      log.debug("{} is tried again in {}: {}", message, decision.delay(), error);
    }
  }

  @Override
  public void deadLettered(StoredMessage message, Decision.Dead decision) {
    log.error(
        "{} is a dead letter{}: {}",
        message,
        decision.blocksKey() ? " and blocks its key" : "",
        decision.error());
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
        reason);
  }

  @Override
  public void publisherBroken(String worker, String problem, @Nullable Throwable cause) {
    warn("publisher", "The publisher broke its contract: " + problem, cause);
  }

  @Override
  public void breakerOpened(String error) {
    log.warn("The broker cannot be reached, the relay pauses: {}", error);
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
    return messages.isEmpty() ? "none" : messages.get(0).toString();
  }

  private static String text(Throwable error) {
    String message = error.getMessage();
    return message != null ? message : error.toString();
  }
}
