package dev.outbox.spring.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.Archive;
import dev.outbox.publisher.core.Destination;
import dev.outbox.relay.RetryPolicy;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StoreProvider.History;
import dev.outbox.spring.autoconfigure.OutboxProperties.SchemaMode;
import java.io.IOException;
import java.net.URL;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.io.UrlResource;

class OutboxPropertiesTest {

  private static OutboxProperties bind(Map<String, String> properties) {
    return new Binder(new MapConfigurationPropertySource(properties))
        .bindOrCreate("outbox", OutboxProperties.class);
  }

  @Test
  void defaultsAreThoseOfTheTable() {
    OutboxProperties properties = bind(Map.of());
    assertThat(properties.enabled()).isTrue();
    assertThat(properties.store()).isNull();
    assertThat(properties.schema()).isNull();
    assertThat(properties.prefix()).isEqualTo("outbox_");
    assertThat(properties.dedupWindow()).isEqualTo(Duration.ofDays(7));
    assertThat(properties.history()).isEqualTo(History.NONE);
    assertThat(properties.schemaMode()).isEqualTo(SchemaMode.VERIFY);
    assertThat(properties.append().flushJpa()).isTrue();
    assertThat(properties.relay().enabled()).isTrue();
    assertThat(properties.relay().haltKeyWhenDead()).isEmpty();
    assertThat(properties.kafka().properties()).isEmpty();
    assertThat(properties.publisher()).isEmpty();
    assertThat(properties.inbox().enabled()).isFalse();
    assertThat(properties.inbox().prefix()).isEqualTo("inbox_");
    assertThat(properties.inbox().retention()).isEqualTo(InboxStore.DEFAULT_RETENTION);
    assertThat(properties.inbox().purge()).isTrue();
    assertThat(goesTo(properties)).hasToString("{aggregateType}");
    RetryPolicy retry = properties.relay().retry().policy();
    assertThat(retry.maxAttempts()).isEqualTo(RetryPolicy.DEFAULT_MAX_ATTEMPTS);
  }

  @Test
  void whatIsGivenIsTaken() {
    OutboxProperties properties =
        bind(
            Map.of(
                "outbox.archive", "metadata",
                "outbox.archive-retention", "90d",
                "outbox.dead-letter-retention", "7d",
                "outbox.relay.retry.max-attempts", "3",
                "outbox.relay.halt-key-when-dead", "account,order",
                "outbox.relay.publish-timeout", "10s",
                "outbox.kafka.properties[linger.ms]", "5",
                "outbox.kafka.properties.batch.size", "1",
                "outbox.destination", "shop.{aggregateType}",
                "outbox.destinations.order", "shop.orders"));
    assertThat(properties.history())
        .isEqualTo(new History(Archive.METADATA, Duration.ofDays(90), Duration.ofDays(7)));
    assertThat(properties.relay().retry().policy().maxAttempts()).isEqualTo(3);
    assertThat(properties.relay().haltKeyWhenDead()).isEqualTo(List.of("account", "order"));
    assertThat(properties.relay().effectivePublishTimeout()).isEqualTo(Duration.ofSeconds(10));
    assertThat(properties.kafka().properties())
        .containsOnly(Map.entry("linger.ms", "5"), Map.entry("batch.size", "1"));
    assertThat(goesTo(properties))
        .hasToString("{order=shop.orders}, otherwise shop.{aggregateType}");
  }

  /** Taken as milliseconds, what is to be kept would be gone. */
  @Test
  void retentionsWithoutAUnitAreDays() {
    OutboxProperties properties =
        bind(
            Map.of(
                "outbox.dedup-window", "14",
                "outbox.archive-retention", "90",
                "outbox.dead-letter-retention", "30",
                "outbox.inbox.retention", "7"));
    assertThat(properties.dedupWindow()).isEqualTo(Duration.ofDays(14));
    assertThat(properties.history())
        .isEqualTo(new History(Archive.NONE, Duration.ofDays(90), Duration.ofDays(30)));
    assertThat(properties.inbox().retention()).isEqualTo(Duration.ofDays(7));
  }

  private static FailureAnalysis analyzed(Map<String, String> properties) {
    Binder binder = new Binder(new MapConfigurationPropertySource(properties));
    BindHandler refusing = new NoUnboundElementsBindHandler(BindHandler.DEFAULT);
    return new UnknownPropertyFailureAnalyzer()
        .analyze(
            catchThrowable(
                () -> binder.bind("outbox", Bindable.of(OutboxProperties.class), refusing)));
  }

  /** As by {@code outbox.relay.workers=${WORKERS:}}. */
  @Test
  void anEmptyNumberIsNoUnknownProperty() {
    assertThat(
            analyzed(Map.of("outbox.relay.workers", "", "outbox.relay.lese", "")).getDescription())
        .contains("The property outbox.relay.workers is empty, from ", ": give it a value.")
        .contains("no property outbox.relay.lese", ": did you mean outbox.relay.lease?");
  }

  @Test
  void aValueThatIsNoneIsLeftToBoot() {
    assertThat(analyzed(Map.of("outbox.relay.workers", "two"))).isNull();
  }

  @Test
  void whoHasADestinationOfItsOwnHasNoneOfThoseForAll() {
    OutboxProperties properties =
        bind(
            Map.of(
                "outbox.destination", "shop.{aggregateType}",
                "outbox.destinations.invoice", "shop.invoices",
                "outbox.destinations.order", "shop.orders",
                "outbox.kafka.destination", "kafka.{aggregateType}",
                "outbox.kafka.destinations.order", "kafka.orders"));
    assertThat(goesTo(properties))
        .hasToString("{order=kafka.orders}, otherwise kafka.{aggregateType}");
  }

  private static Destination goesTo(OutboxProperties properties) {
    return new PublisherProperties(properties, properties.kafka()).destination();
  }

  /** What editors show; made by the build from the record's comments. */
  @Test
  void eachHasADescription() throws IOException {
    String metadata = "";
    for (URL each :
        Collections.list(
            OutboxProperties.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
      String text = new UrlResource(each).getContentAsString(UTF_8);
      metadata = text.contains(OutboxProperties.class.getName()) ? text : metadata;
    }
    assertThat(metadata)
        .contains("\"outbox.archive\"", "\"outbox.dead-letter-retention\"")
        .contains("\"outbox.schema-mode\"", "\"outbox.relay.halt-key-when-dead\"")
        .contains("\"outbox.relay.lease\"", "\"outbox.relay.idle-pause\"")
        .contains("\"outbox.kafka.properties\"", "\"outbox.append.flush-jpa\"");
    String properties = metadata.substring(metadata.indexOf("\"properties\""));
    assertThat(properties.substring(0, properties.indexOf(']')).split("\\{", -1))
        .filteredOn(property -> property.contains("\"name\""))
        .hasSizeGreaterThan(25)
        .allMatch(property -> property.contains("\"description\""));
  }
}
