package dev.outbox.dev.demo;

import dev.outbox.Archive;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.cli.DatabaseOptions;
import dev.outbox.dev.StoreKind;
import dev.outbox.dev.broker.Broker;
import dev.outbox.dev.broker.BrokerKind;
import dev.outbox.dev.broker.Source;
import dev.outbox.dev.broker.Source.Reading;
import dev.outbox.dev.broker.Source.Received;
import dev.outbox.dev.demo.Ledger.Shipment;
import dev.outbox.dev.torture.Place;
import dev.outbox.dev.torture.Places;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.InboxStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** The consumer of the demo, in a process of its own, with a database of its own. */
final class DemoShipping {
  static final String STARTED = "started";

  /** To be sent when nothing more is published: it ships what there is, and ends. */
  static final String END = "end";

  /** Of one transaction. */
  private static final int MOST = 200;

  /** Between transactions, so that there are few: the table's times are those of the relays. */
  private static final int PAUSE_MILLIS = 50;

  private static final int TRIES = 20;

  private final Shipping<?> shipping;
  private final List<UUID> received = new ArrayList<>();
  private volatile boolean toTheEnd;

  private DemoShipping(Shipping<?> shipping) {
    this.shipping = shipping;
  }

  static Map<String, String> settings(Address database, BrokerKind kind, Broker broker) {
    return Map.of(
        "url",
        database.url(),
        "user",
        database.user(),
        "schema",
        Objects.requireNonNullElse(database.schema(), ""),
        "prefix",
        database.prefix(),
        "broker",
        kind.name(),
        "broker.address",
        broker.address(),
        "broker.name",
        broker.name());
  }

  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    String schema = parent.get("schema");
    Address address =
        new Address(
            parent.get("url"),
            parent.get("user"),
            System.getenv().getOrDefault(DatabaseOptions.PASSWORD_VARIABLE, ""),
            schema.isEmpty() ? null : schema,
            parent.get("prefix"));
    BrokerKind broker = BrokerKind.valueOf(parent.get("broker"));
    StoreKind store = StoreKind.of(address.url());
    try (Place<?> place = Places.open(store, address, Archive.NONE, 1);
        Source source =
            broker
                .open(parent.get("broker.address"), parent.get("broker.name"), DemoSettings.TYPES)
                .source(Reading.ALONE)) {
      DemoShipping process = new DemoShipping(Shipping.in(place));
      parent.say(STARTED);
      Thread commands = new Thread(() -> process.listen(parent), "commands");
      commands.setDaemon(true);
      commands.start();
      process.run(source);
    }
  }

  private void listen(ParentJvm parent) {
    try {
      while (!parent.command().equals(END)) {}
      toTheEnd = true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(Source source) throws InterruptedException {
    source.read(
        () -> toTheEnd,
        new Source.Sink() {
          @Override
          public void received(Received message) {
            received.add(message.id());
          }

          @Override
          public void complete() throws InterruptedException {
            shipReceived();
            Thread.sleep(PAUSE_MILLIS);
          }
        });
  }

  private void shipReceived() throws InterruptedException {
    for (int from = 0; from < received.size(); from += MOST) {
      ship(received.subList(from, Math.min(received.size(), from + MOST)));
    }
    received.clear();
  }

  /** A predecessor that was killed may still be in the way for a moment. */
  private void ship(List<UUID> messages) throws InterruptedException {
    for (int i = 1; ; i++) {
      try {
        shipping.ship(messages);
        return;
      } catch (TransientOutboxException e) {
        if (i == TRIES) {
          throw e;
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    }
  }

  /**
   * What the consumer does about messages, and the inbox's record of them, in one transaction.
   * Nothing but the inbox keeps it from shipping the same twice.
   */
  private record Shipping<T>(Place<T> place, InboxStore<T> inbox) {
    static <T> Shipping<T> in(Place<T> place) {
      return new Shipping<>(place, place.inbox(null));
    }

    void ship(List<UUID> messages) {
      boolean ignored =
          place.run(
              transaction -> {
                for (UUID message : messages) {
                  InboxKey key = new InboxKey("shipping", message.toString());
                  boolean first = inbox.firstTime(transaction, key);
                  place.effect(transaction, first ? Shipment.SHIPPED : Shipment.REPEATED, message);
                }
                return true;
              });
    }
  }
}
