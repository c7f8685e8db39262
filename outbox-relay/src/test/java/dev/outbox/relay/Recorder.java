package dev.outbox.relay;

import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

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
  public void on(RelayEvent event) {
    events.add(text(event));
  }

  private static String text(RelayEvent event) {
    if (event instanceof RelayEvent.Started e) {
      return "started "
          + e.who()
          + " "
          + e.workers()
          + (e.place() == null ? "" : " on " + e.place());
    } else if (event instanceof RelayEvent.Claimed e) {
      return "claimed " + sequences(e.messages());
    } else if (event instanceof RelayEvent.Published e) {
      return "published " + sequences(e.messages());
    } else if (event instanceof RelayEvent.Delivered e) {
      return "delivered " + e.message().sequence();
    } else if (event instanceof RelayEvent.Expired e) {
      return "expired " + e.message().sequence();
    } else if (event instanceof RelayEvent.Retried e) {
      return "retried %d %s %s"
          .formatted(e.message().sequence(), e.decision().counts(), e.decision().error());
    } else if (event instanceof RelayEvent.DeadLettered e) {
      return "dead " + e.message().sequence() + " " + e.decision().error();
    } else if (event instanceof RelayEvent.Unavailable e) {
      return "unavailable " + e.message().sequence() + " " + e.result().destination();
    } else if (event instanceof RelayEvent.Postponed e) {
      return "postponed " + e.message().sequence() + " " + e.result().destination();
    } else if (event instanceof RelayEvent.LeaseLost e) {
      return "lost " + sequences(e.messages());
    } else if (event instanceof RelayEvent.Abandoned e) {
      return "abandoned " + sequences(e.messages()) + " " + e.reason();
    } else if (event instanceof RelayEvent.PublisherBroken e) {
      return "broken " + e.problem();
    } else if (event instanceof RelayEvent.StoodStill e) {
      return "stoodStill " + e.time().toSeconds();
    } else if (event instanceof RelayEvent.BrokerReachable e) {
      return "reachable " + e.address();
    } else if (event instanceof RelayEvent.BrokerUnreachable e) {
      return "unreachable " + e.address() + " " + e.error();
    } else if (event instanceof RelayEvent.BreakerOpened e) {
      return "opened " + e.error();
    } else if (event instanceof RelayEvent.BreakerClosed) {
      return "closed";
    } else if (event instanceof RelayEvent.Paused e) {
      return "paused " + e.pause().aggregateType();
    } else if (event instanceof RelayEvent.Resumed e) {
      return "resumed " + e.pause().aggregateType();
    } else if (event instanceof RelayEvent.StoreFailed e) {
      return "storeFailed " + e.operation() + " " + e.error().getMessage();
    } else if (event instanceof RelayEvent.StoreRecovered) {
      return "recovered";
    } else {
      return "stopped " + ((RelayEvent.Stopped) event).unfinished();
    }
  }
}
