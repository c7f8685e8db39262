package dev.outbox.dev.demo;

import dev.outbox.TransientOutboxException;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.InboxStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The consumer of the demo, in a process of its own, with a database of its own. What it does about
 * messages, and the inbox's record of them, are one transaction; nothing but the inbox keeps it
 * from shipping the same twice.
 *
 * @param <T> a transaction
 */
record DemoShipping<T>(Place<T> place, InboxStore<T> inbox, List<UUID> received)
    implements Source.Sink {
  /** Of one transaction. */
  private static final int MOST = 200;

  /** Between transactions, so that there are few: the table's times are those of the relays. */
  private static final int PAUSE_MILLIS = 50;

  /** MongoDB keeps the transaction of a client that was killed for a minute. */
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private DemoShipping(Place<T> place) {
    this(place, place.inbox(null), new ArrayList<>());
  }

  /** It is told to stop when nothing more is published: it ships what there is, and ends. */
  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    try (Place<?> place = StoreKind.at(Place.address(parent));
        Source source = Broker.open(parent, Demo.TYPES).source(Source.Reading.ALONE)) {
      Source.Sink shipping = new DemoShipping<>(place);
      parent.say(Demo.STARTED);
      source.read(() -> Demo.STOP.equals(parent.next()), shipping);
    }
  }

  @Override
  public void received(Source.Received message) {
    received.add(message.id());
  }

  @Override
  public void complete() throws InterruptedException {
    for (int from = 0; from < received.size(); from += MOST) {
      ship(received.subList(from, Math.min(received.size(), from + MOST)));
    }
    received.clear();
    Thread.sleep(PAUSE_MILLIS);
  }

  /** A predecessor that was killed may still be in the way. */
  private void ship(List<UUID> messages) throws InterruptedException {
    long began = System.nanoTime();
    while (true) {
      try {
        boolean ignored = place.run(transaction -> ship(transaction, messages));
        return;
      } catch (TransientOutboxException e) {
        if (System.nanoTime() - began >= PATIENCE.toNanos()) {
          throw e;
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  private boolean ship(T transaction, List<UUID> messages) {
    for (UUID message : messages) {
      boolean first = inbox.firstTime(transaction, new InboxKey("shipping", message.toString()));
      place.effect(
          transaction, first ? Account.Shipment.SHIPPED : Account.Shipment.REPEATED, message);
    }
    return true;
  }
}
