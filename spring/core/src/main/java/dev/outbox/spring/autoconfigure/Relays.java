package dev.outbox.spring.autoconfigure;

import dev.outbox.JoinedOutbox;
import dev.outbox.relay.Relay;
import dev.outbox.relay.RelayListener;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.OutboxRelay;
import dev.outbox.spring.RelayCustomizer;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/** What all outboxes of an application have in common: how their relays are built. */
record Relays(
    ListableBeanFactory beans,
    ObjectProvider<RelayCustomizer> customizers,
    ObjectProvider<Traces> traces) {

  /** The name of the first outbox, where there are others. */
  static final String FIRST = "outbox";

  /** How many outboxes there are; makes none of them. */
  static int outboxes(ListableBeanFactory beans) {
    return 1 + beans.getBeanNamesForType(DataSourceOutbox.class, true, false).length;
  }

  /** Those that the application has made of further data sources by an {@code OutboxFactory}. */
  static List<MoreOutboxes.Parts> others(ListableBeanFactory beans) {
    return beans.getBeansOfType(DataSourceOutbox.class, true, false).values().stream()
        .filter(MoreOutboxes.Made.class::isInstance)
        .map(made -> ((MoreOutboxes.Made) made).parts())
        .toList();
  }

  /**
   * @param name of the outbox, for the log where there are several
   * @param store the relay's
   * @param own of this relay, after those that are for all
   */
  OutboxRelay relay(
      String name,
      OutboxStore<?> store,
      HandOver handOver,
      MessagePublisher publisher,
      Supplier<Stream<RelayListener>> listeners,
      RelayCustomizer... own) {
    MessagePublisher traced = traced(publisher);
    int outboxes = outboxes(beans);
    return new OutboxRelay(
        () -> {
          Relay relay =
              OutboxConfigurationException.whereRefused(
                  "The relay's settings are refused",
                  "Correct outbox.relay.*, or what a RelayCustomizer sets.",
                  () -> {
                    Relay.Builder builder = Relay.builder(store, traced);
                    if (outboxes > 1) {
                      builder.oneOfSeveral(name, outboxes);
                    }
                    listeners.get().forEach(builder::listener);
                    Stream.concat(customizers.orderedStream(), Stream.of(own))
                        .forEach(customizer -> customizer.customize(builder));
                    return builder.build();
                  });
          handOver.to(relay, store);
          return relay;
        });
  }

  JoinedOutbox traced(JoinedOutbox outbox) {
    Traces present = traces.getIfAvailable();
    return present == null ? outbox : present.outbox().apply(outbox);
  }

  private MessagePublisher traced(MessagePublisher publisher) {
    Traces present = traces.getIfAvailable();
    return present == null ? publisher : present.publisher().apply(publisher);
  }
}
