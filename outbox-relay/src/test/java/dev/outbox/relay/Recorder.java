package dev.outbox.relay;

import dev.outbox.spi.Decision;
import dev.outbox.spi.Result;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Keeps events as short texts. */
final class Recorder implements RelayListener {
  private final List<String> events = new CopyOnWriteArrayList<>();

  List<String> all() {
    return events;
  }

  /** Those that begin with a word. */
  List<String> of(String word) {
    return events.stream().filter(e -> e.startsWith(word)).toList();
  }

  private static List<Long> sequences(List<StoredMessage> messages) {
    return messages.stream().map(StoredMessage::sequence).toList();
  }

  @Override
  public void started(String relay, int workers) {
    events.add("started " + relay + " " + workers);
  }

  @Override
  public void claimed(String worker, List<StoredMessage> messages, Duration took) {
    events.add("claimed " + sequences(messages));
  }

  @Override
  public void published(String worker, List<StoredMessage> messages, Duration took) {
    events.add("published " + sequences(messages));
  }

  @Override
  public void delivered(StoredMessage message) {
    events.add("delivered " + message.sequence());
  }

  @Override
  public void retried(StoredMessage message, Decision.Retry decision) {
    events.add("retried " + message.sequence() + " " + decision.counts() + " " + decision.error());
  }

  @Override
  public void deadLettered(StoredMessage message, Decision.Dead decision) {
    events.add("dead " + message.sequence() + " " + decision.error());
  }

  @Override
  public void unavailable(StoredMessage message, Result.Unavailable result) {
    events.add("unavailable " + message.sequence() + " " + result.destination());
  }

  @Override
  public void leaseLost(String worker, List<StoredMessage> messages) {
    events.add("lost " + sequences(messages));
  }

  @Override
  public void abandoned(String worker, List<StoredMessage> messages, String reason) {
    events.add("abandoned " + sequences(messages) + " " + reason);
  }

  @Override
  public void publisherBroken(String worker, String problem, @Nullable Throwable cause) {
    events.add("broken " + problem);
  }

  @Override
  public void stoodStill(String worker, Duration time) {
    events.add("stoodStill " + time.toSeconds());
  }

  @Override
  public void brokerReachable(String address) {
    events.add("reachable " + address);
  }

  @Override
  public void brokerUnreachable(String address, String error) {
    events.add("unreachable " + address + " " + error);
  }

  @Override
  public void breakerOpened(String error) {
    events.add("opened " + error);
  }

  @Override
  public void breakerClosed() {
    events.add("closed");
  }

  @Override
  public void storeFailed(String who, String operation, RuntimeException error) {
    events.add("storeFailed " + operation + " " + error.getMessage());
  }

  @Override
  public void storeRecovered(String worker) {
    events.add("recovered");
  }

  @Override
  public void callbackFailed(String setting, StoredMessage message, RuntimeException error) {
    events.add("callback " + setting + " " + message.sequence());
  }

  @Override
  public void stopped(String relay, int unfinished) {
    events.add("stopped " + unfinished);
  }
}
