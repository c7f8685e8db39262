package dev.outbox.relay;

import dev.outbox.spi.Decision;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells several listeners; what one throws reaches neither the relay nor the others. */
final class Listeners implements RelayListener {
  private static final Logger log = LoggerFactory.getLogger(Relay.class);

  private final List<RelayListener> all;

  Listeners(List<RelayListener> all) {
    this.all = List.copyOf(all);
  }

  private void each(Consumer<RelayListener> event) {
    for (RelayListener listener : all) {
      try {
        event.accept(listener);
      } catch (Throwable e) { // also errors: the relay's threads never end by a listener
        log(listener, e);
      }
    }
  }

  /** Where logging throws too, as when the memory is used up, nobody can be told. */
  private static void log(RelayListener listener, Throwable e) {
    try {
      log.error("Listener {} threw; the relay goes on", listener.getClass().getName(), e);
    } catch (Throwable ignored) {
      // The relay goes on.
    }
  }

  @Override
  public void started(String relay, int workers) {
    each(l -> l.started(relay, workers));
  }

  @Override
  public void claimed(String worker, List<StoredMessage> messages, Duration took) {
    each(l -> l.claimed(worker, messages, took));
  }

  @Override
  public void published(String worker, List<StoredMessage> messages, Duration took) {
    each(l -> l.published(worker, messages, took));
  }

  @Override
  public void delivered(StoredMessage message) {
    each(l -> l.delivered(message));
  }

  @Override
  public void retried(StoredMessage message, Decision.Retry decision) {
    each(l -> l.retried(message, decision));
  }

  @Override
  public void deadLettered(StoredMessage message, Decision.Dead decision) {
    each(l -> l.deadLettered(message, decision));
  }

  @Override
  public void unavailable(StoredMessage message, Result.Unavailable result) {
    each(l -> l.unavailable(message, result));
  }

  @Override
  public void leaseLost(String worker, List<StoredMessage> messages) {
    each(l -> l.leaseLost(worker, messages));
  }

  @Override
  public void abandoned(String worker, List<StoredMessage> messages, String reason) {
    each(l -> l.abandoned(worker, messages, reason));
  }

  @Override
  public void publisherBroken(String worker, String problem, @Nullable Throwable cause) {
    each(l -> l.publisherBroken(worker, problem, cause));
  }

  @Override
  public void stoodStill(String worker, Duration time) {
    each(l -> l.stoodStill(worker, time));
  }

  @Override
  public void brokerReachable(String address) {
    each(l -> l.brokerReachable(address));
  }

  @Override
  public void brokerUnreachable(String address, String error) {
    each(l -> l.brokerUnreachable(address, error));
  }

  @Override
  public void breakerOpened(String error) {
    each(l -> l.breakerOpened(error));
  }

  @Override
  public void breakerClosed() {
    each(RelayListener::breakerClosed);
  }

  @Override
  public void storeFailed(String who, String operation, RuntimeException error) {
    each(l -> l.storeFailed(who, operation, error));
  }

  @Override
  public void storeRecovered(String worker) {
    each(l -> l.storeRecovered(worker));
  }

  @Override
  public void callbackFailed(String setting, StoredMessage message, RuntimeException error) {
    each(l -> l.callbackFailed(setting, message, error));
  }

  @Override
  public void stopped(String relay, int unfinished) {
    each(l -> l.stopped(relay, unfinished));
  }
}
