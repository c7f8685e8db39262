package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.spring.DataSourceOutbox;
import dev.outbox.spring.RelayCustomizer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Nothing connects. */
class MoreOutboxesTest {
  private boolean closed;

  private final class Closing implements MessagePublisher {
    @Override
    public List<Result> publish(List<StoredMessage> messages) {
      return List.of();
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  private final OutboxProperties properties =
      new Binder(
              new MapConfigurationPropertySource(
                  Map.of("outbox.store", "postgres", "outbox.schema-mode", "none")))
          .bindOrCreate("outbox", OutboxProperties.class);
  private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
  private final MoreOutboxes outboxes =
      new MoreOutboxes(
          properties,
          new JdbcStores(
              properties,
              beans,
              beans.getBeanProvider(DataSource.class),
              beans.getBeanProvider(DataSource.class)),
          new Relays(
              beans,
              beans.getBeanProvider(RelayCustomizer.class),
              beans.getBeanProvider(Traces.class)),
          beans);

  /** Nothing would close it. */
  @Test
  void noPublisherIsOpenedForOneThatCannotBeMade() {
    IllegalStateException noMeters = new IllegalStateException("no meters");
    MoreMeters meters =
        (name, store) -> {
          throw noMeters;
        };
    Function<Duration, MessagePublisher> opening =
        timeout -> {
          throw new AssertionError("opened");
        };
    OfferedPublisher offered =
        new OfferedPublisher("own", "a broker", "", properties.http(), opening);
    beans.registerSingleton("publishers", new Publishers(properties, List.of(offered), null));
    beans.registerSingleton("meters", meters);
    assertThatThrownBy(() -> outboxes.of(new DriverManagerDataSource())).isSameAs(noMeters);
  }

  @Test
  void aPublisherOfTheApplicationIsSharedAndLeftOpen() {
    beans.registerSingleton("publisher", new Closing());
    DataSourceOutbox made = outboxes.of(new DriverManagerDataSource());
    assertThat(((MoreOutboxes.Made) made).parts().relay()).isNotNull();
    made.close();
    assertThat(closed).isFalse();
  }
}
