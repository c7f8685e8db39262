package dev.outbox.spring.autoconfigure;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.relay.RelayListener;
import dev.outbox.relay.RelayState;
import dev.outbox.relay.SchemaProbe;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.OutboxFactory;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.RelayCustomizer;
import dev.outbox.spring.SpringTransaction;
import java.sql.Connection;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;

/** Makes the outboxes of further data sources from what the first is made of. */
record MoreOutboxes(
    OutboxProperties properties, JdbcStores stores, Relays relays, ListableBeanFactory beans)
    implements OutboxFactory {

  @Override
  public DataSourceOutbox of(DataSource dataSource, RelayCustomizer... customizers) {
    String name = stores.name(dataSource);
    OutboxStore<Connection> store = properties.schemaMode().applyTo(stores.store(dataSource));
    HandOver handOver = new HandOver(beans.getBeanProvider(OutboxRelay.class));
    JoinedOutbox outbox =
        relays.traced(
            handOver
                .outbox(store)
                .joining(
                    SpringTransaction.of(
                        dataSource, properties.append().flushJpa(), stores::name)));
    RelayState state = new RelayState();
    MoreMeters meters = beans.getBeanProvider(MoreMeters.class).getIfAvailable();
    MoreMeters.Meters metered = meters == null ? null : meters.of(name, store);
    List<RelayListener> listeners =
        metered == null ? List.of(state) : List.of(state, metered.listener());
    // Opened last: nothing would close it if more failed.
    Publishers publishers = beans.getBeanProvider(Publishers.class).getIfAvailable();
    MessagePublisher own = publishers == null ? null : publishers.open();
    MessagePublisher publisher =
        own != null ? own : beans.getBeanProvider(MessagePublisher.class).getIfAvailable();
    OutboxRelay relay =
        publisher == null || !properties.relay().enabled()
            ? null
            : relays.relay(name, store, handOver, publisher, listeners::stream, customizers);
    if (relay != null) {
      handOver.wakes(relay::wake);
    }
    return new Made(
        new Parts(
            name,
            outbox,
            relay,
            state,
            new OutboxHealth(new SchemaProbe(store), () -> relay, state),
            metered == null ? null : metered.reading(),
            own));
  }

  /**
   * What one of them is made of.
   *
   * @param publisher its own
   */
  record Parts(
      String name,
      JoinedOutbox outbox,
      @Nullable OutboxRelay relay,
      RelayState state,
      OutboxHealth health,
      @Nullable LastReading reading,
      @Nullable MessagePublisher publisher) {}

  /** One of them; not final, as {@link OutboxAutoConfiguration.Spied}. */
  static class Made implements DataSourceOutbox {
    private final Parts parts;

    Made(Parts parts) {
      this.parts = parts;
    }

    Parts parts() {
      return parts;
    }

    @Override
    public Appended append(List<OutboxMessage> messages) {
      return parts.outbox().append(messages);
    }

    @Override
    public void start() {
      if (parts.relay() != null) {
        parts.relay().start();
      }
    }

    @Override
    public void stop() {
      if (parts.relay() != null) {
        parts.relay().stop();
      }
    }

    @Override
    public void stop(Runnable callback) {
      if (parts.relay() == null) {
        callback.run();
      } else {
        parts.relay().stop(callback);
      }
    }

    @Override
    public boolean isRunning() {
      return parts.relay() != null && parts.relay().isRunning();
    }

    @Override
    public int getPhase() {
      return OutboxRelay.PHASE;
    }

    @Override
    public void close() {
      stop();
      if (parts.publisher() != null) {
        parts.publisher().close();
      }
    }
  }
}
