package dev.outbox.spring.autoconfigure;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.relay.RelayListener;
import dev.outbox.relay.RelayState;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.OutboxFactory;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.RelayCustomizer;
import dev.outbox.spring.SpringTransaction;
import java.sql.Connection;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

/** Makes the outboxes of further data sources from what the first is made of. */
record MoreOutboxes(
    OutboxProperties properties,
    Relays relays,
    ListableBeanFactory beans,
    Function<DataSource, String> names)
    implements OutboxFactory {

  @Override
  public DataSourceOutbox of(DataSource dataSource, RelayCustomizer... customizers) {
    String name = names.apply(dataSource);
    OutboxStore<Connection> store =
        properties.schemaMode().applyTo(JdbcStores.store(properties, dataSource, name));
    WakeAfterCommit wake = new WakeAfterCommit(beans.getBeanProvider(OutboxRelay.class));
    HandOver handOver = new HandOver(wake, beans.getBeanProvider(PlatformTransactionManager.class));
    JoinedOutbox outbox =
        relays.traced(
            handOver
                .outbox(store)
                .joining(SpringTransaction.of(dataSource, properties.append().flushJpa(), names)));
    Publishers publishers = beans.getBeanProvider(Publishers.class).getIfAvailable();
    MessagePublisher own = publishers == null ? null : publishers.open();
    try {
      return made(name, store, outbox, handOver, wake, own, customizers);
    } catch (RuntimeException | Error e) {
      try (MessagePublisher closing = own) {
        throw e;
      }
    }
  }

  private Made made(
      String name,
      OutboxStore<Connection> store,
      JoinedOutbox outbox,
      HandOver handOver,
      WakeAfterCommit wake,
      @Nullable MessagePublisher own,
      RelayCustomizer... customizers) {
    RelayState state = new RelayState();
    MessagePublisher publisher =
        own != null ? own : beans.getBeanProvider(MessagePublisher.class).getIfAvailable();
    MoreMeters meters = beans.getBeanProvider(MoreMeters.class).getIfAvailable();
    MoreMeters.Meters metered = meters == null ? null : meters.of(name, store);
    List<RelayListener> listeners =
        metered == null ? List.of(state) : List.of(state, metered.listener());
    OutboxRelay relay = null;
    if (publisher != null && properties.relay().enabled()) {
      relay = relays.relay(name, store, handOver, publisher, listeners::stream, customizers);
      wake.calls(relay::wake);
    }
    OutboxRelay made = relay;
    return new Made(
        name,
        outbox,
        relay,
        state,
        new OutboxHealth(store, () -> made, state),
        metered == null ? null : metered.reading(),
        own);
  }

  /** One of them. */
  record Made(
      String name,
      JoinedOutbox outbox,
      @Nullable OutboxRelay relay,
      RelayState state,
      OutboxHealth health,
      @Nullable LastReading reading,
      @Nullable MessagePublisher publisher)
      implements DataSourceOutbox {

    @Override
    public Appended append(List<OutboxMessage> messages) {
      return outbox.append(messages);
    }

    @Override
    public void start() {
      if (relay != null) {
        relay.start();
      }
    }

    @Override
    public void stop() {
      if (relay != null) {
        relay.stop();
      }
    }

    @Override
    public void stop(Runnable callback) {
      if (relay == null) {
        callback.run();
      } else {
        relay.stop(callback);
      }
    }

    @Override
    public boolean isRunning() {
      return relay != null && relay.isRunning();
    }

    @Override
    public int getPhase() {
      return OutboxRelay.PHASE;
    }

    @Override
    public void close() {
      stop();
      if (publisher != null) {
        publisher.close();
      }
    }
  }
}
