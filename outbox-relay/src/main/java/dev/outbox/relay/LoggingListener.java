package dev.outbox.relay;

import dev.outbox.OutboxException;
import dev.outbox.Texts;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Writes events to the log, one line each, with names and numbers but no payloads and no headers.
 * Trouble that lasts (a store that is down, a broker that is away) is a warning at first, and again
 * at growing intervals with the number of tries; of very many destinations that are away, only some
 * are named. Other repeated trouble is a warning once for each different text. The repetitions in
 * between are logged at debug. A stack trace comes with what is not expected, and at debug.
 */
final class LoggingListener implements RelayListener {
  private static final String AGAIN = "{} is tried again in {}: {}";
  private static final String STORE = "store";
  private static final String BREAKER = "breaker";
  private static final String ADDRESS = "address";

  private final Logger log;
  private final TroubleLog troubles;
  private final Map<String, String> last = new ConcurrentHashMap<>();

  /** By sequence, a message that a destination holds up: when it is delivered, that is back. */
  private final Map<Long, String> heldUp = new ConcurrentHashMap<>();

  LoggingListener(Logger log) {
    this(log, System::nanoTime);
  }

  LoggingListener(Logger log, LongSupplier clock) {
    this.log = log;
    troubles = new TroubleLog(clock);
  }

  /** A warning when this is new or has lasted for long, else debug; returns whether it is new. */
  private boolean lasting(String subject, String text, @Nullable Throwable cause) {
    String more = troubles.reported(subject);
    boolean isNew = "".equals(more);
    // Our own exceptions say in a sentence what is wrong.
    boolean expected = cause == null || cause instanceof OutboxException;
    write(
        more != null, text + (more == null ? "" : more), expected || !isNew ? null : cause, cause);
    return isNew;
  }

  private void write(
      boolean warn, String text, @Nullable Throwable shown, @Nullable Throwable atDebug) {
    boolean debug = log.isDebugEnabled();
    if (warn) {
      log.warn("{}", printable(text), debug ? atDebug : shown);
    } else if (debug) {
      log.debug("{}", printable(text), atDebug);
    }
  }

  private void over(String text, @Nullable String after) {
    log.info("{}{}", printable(text), after == null ? "" : ", " + after);
  }

  @Override
  public void on(RelayEvent event) {
    if (event instanceof RelayEvent.Delivered e) {
      delivered(e.message());
    } else if (event instanceof RelayEvent.Retried e) {
      retried(e.message(), e.decision());
    } else if (event instanceof RelayEvent.Expired e) {
      String ignored = heldUp.remove(e.message().sequence());
      log.debug("{} expired before it was published", printable(e.message()));
    } else if (event instanceof RelayEvent.DeadLettered e) {
      deadLettered(e.message(), e.decision());
    } else if (event instanceof RelayEvent.Unavailable e) {
      unavailable(e.message(), e.result());
    } else if (event instanceof RelayEvent.LeaseLost e) {
      log.warn(
          "{} lost the lease of {} messages, first {}",
          e.who(),
          e.messages().size(),
          first(e.messages()));
    } else if (event instanceof RelayEvent.Abandoned e) {
      log.warn(
          "{} gives up a claim of {} messages, first {}; they are claimed again when its lease has"
              + " run out: {}",
          e.who(),
          e.messages().size(),
          first(e.messages()),
          printable(e.reason()));
    } else if (event instanceof RelayEvent.PublisherBroken e) {
      String text = "The publisher broke its contract: " + e.problem();
      write(!text.equals(last.put("publisher", text)), text, e.cause(), e.cause());
    } else if (event instanceof RelayEvent.StoodStill e) {
      log.warn(
          "{} stood still for {}, as when the process is stopped or its machine suspended: leases"
              + " may be lost, and messages delivered again",
          e.who(),
          Texts.time(e.time()));
    } else {
      ofTheRelay(event);
    }
  }

  /** What concerns the store, the broker, and the relay as a whole. */
  private void ofTheRelay(RelayEvent event) {
    if (event instanceof RelayEvent.StoreFailed e) {
      storeFailed(e);
    } else if (event instanceof RelayEvent.StoreRecovered) {
      storeRecovered();
    } else if (event instanceof RelayEvent.BreakerOpened e) {
      breakerOpened(e.error());
    } else if (event instanceof RelayEvent.BreakerClosed) {
      over("The broker can be reached again", troubles.ended(BREAKER));
    } else if (event instanceof RelayEvent.BrokerReachable e) {
      over("The broker at %s answers".formatted(e.address()), troubles.ended(ADDRESS));
    } else if (event instanceof RelayEvent.BrokerUnreachable e) {
      String text = "The broker at %s cannot be reached: %s".formatted(e.address(), e.error());
      boolean ignored = lasting(ADDRESS, text, null);
    } else if (event instanceof RelayEvent.Paused e) {
      log.info("Paused: {}", printable(e.pause().sentence()));
    } else if (event instanceof RelayEvent.Resumed e) {
      log.info("Resumed; before, {}", printable(e.pause().sentence()));
    } else if (event instanceof RelayEvent.Started e) {
      started(e);
    } else if (event instanceof RelayEvent.Stopped e) {
      stopped(e);
    }
  }

  private void started(RelayEvent.Started e) {
    String place = e.place();
    log.info(
        "Relay {} started with {} workers{}",
        e.who(),
        e.workers(),
        place == null ? "" : " on " + printable(place));
  }

  private void delivered(StoredMessage message) {
    String destination = heldUp.isEmpty() ? null : heldUp.remove(message.sequence());
    if (destination != null) {
      over(destination + " can be reached again", troubles.ended(destination));
    }
    if (log.isTraceEnabled()) {
      log.trace("Delivered {}", printable(message));
    }
  }

  private void retried(StoredMessage message, Decision.Retry decision) {
    String error = decision.error();
    if (decision.counts() && !error.equals(last.put("retry", error))) {
      log.warn(AGAIN, printable(message), Texts.time(decision.delay()), printable(error));
    } else if (log.isDebugEnabled()) {
      log.debug(AGAIN, printable(message), Texts.time(decision.delay()), printable(error));
    }
  }

  private void deadLettered(StoredMessage message, Decision.Dead decision) {
    log.error(
        "{} is a dead letter{}: {}",
        printable(message),
        decision.haltsKey() ? " and halts its key" : "",
        printable(decision.error()));
  }

  private void unavailable(StoredMessage message, Result.Unavailable result) {
    String destination = result.destination();
    if (destination == null) {
      if (troubles.lasts(BREAKER)) {
        breakerOpened(result.error());
      }
    } else if (troubles.hasRoomFor(destination)
        && lasting(destination, destination + " cannot be reached: " + result.error(), null)) {
      heldUp.values().removeIf(held -> held.equals(destination) || !troubles.lasts(held));
      heldUp.put(message.sequence(), destination);
    }
  }

  private void breakerOpened(String error) {
    boolean ignored =
        lasting(BREAKER, "The broker cannot be reached, the relay pauses: " + error, null);
  }

  /** While the store is down, failures of side tasks are no news. */
  private void storeFailed(RelayEvent.StoreFailed e) {
    String operation = e.operation();
    boolean beside = Set.of("housekeep", "pauses").contains(operation);
    boolean ignored =
        lasting(
            beside && !troubles.lasts(STORE) ? operation : STORE,
            "%s failed on %s%s: %s"
                .formatted(
                    operation,
                    e.who(),
                    e.isPermanent() && e.stopsWork()
                        ? ", which publishes nothing until this is put right"
                        : "",
                    text(e.error())),
            e.error());
  }

  private void storeRecovered() {
    String after = troubles.ended(STORE);
    if (after != null) {
      over("The store works again", after);
    }
  }

  private void stopped(RelayEvent.Stopped e) {
    if (e.unfinished() == 0) {
      log.info("Relay {} stopped", e.who());
    } else {
      log.warn(
          "Relay {} stopped, but {} of its threads are still inside the store or the publisher;"
              + " what they hold is claimed again after its lease",
          e.who(),
          e.unfinished());
    }
  }

  private static String first(List<StoredMessage> messages) {
    return messages.isEmpty() ? "none" : printable(messages.get(0));
  }

  /** Keys and errors are others' texts: none may look like a line of the log. */
  private static String printable(Object text) {
    return Texts.printable(text.toString());
  }

  private static String text(Throwable error) {
    String message = error.getMessage();
    return message != null ? message : error.toString();
  }
}
