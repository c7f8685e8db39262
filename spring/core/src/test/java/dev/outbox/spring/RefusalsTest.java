package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spring.Servers.Schema;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What somebody reads whose application does not start. */
@ExtendWith({Servers.Resolver.class, OutputCaptureExtension.class})
class RefusalsTest {
  private static Schema schema;

  @BeforeAll
  static void schema(Servers servers) throws SQLException {
    schema = servers.schema();
  }

  private static void refused(CapturedOutput output, String setting, String... sentences) {
    assertThatThrownBy(() -> Application.start(schema, setting).close());
    assertThat(output.getAll()).contains("APPLICATION FAILED TO START").contains(sentences);
  }

  @Test
  void missingTables(CapturedOutput output, Servers servers) throws SQLException {
    Schema empty = servers.schema(); // other refusals come after the migration
    assertThatThrownBy(() -> Application.start(empty, "--outbox.schema-mode=verify").close());
    assertThat(output.getAll())
        .contains(
            "APPLICATION FAILED TO START",
            "There is no table outbox_schema",
            "Set outbox.schema-mode=migrate",
            "liquibase-core");
  }

  @Test
  void anArchiveWithoutTables(CapturedOutput output, Servers servers) throws SQLException {
    Schema older = servers.schema();
    Application.start(older).close();
    assertThatThrownBy(
        () ->
            Application.start(older, "--outbox.archive=metadata", "--outbox.schema-mode=verify")
                .close());
    assertThat(output.getAll())
        .contains(
            "APPLICATION FAILED TO START",
            "There is no table outbox_archive_schema",
            "copy the SQL file that docs/spring.md names");
  }

  @Test
  void tablesOfALaterVersion(CapturedOutput output, Servers servers) throws SQLException {
    Schema later = servers.schema();
    try (Application shop = Application.start(later)) {
      shop.jdbc().update("update outbox_schema set version = 99");
    }
    assertThatThrownBy(() -> Application.start(later, "--outbox.schema-mode=verify").close());
    assertThat(output.getAll())
        .contains("APPLICATION FAILED TO START", "has version 99", "use a newer release");
  }

  @Test
  void anInboxWithoutTables(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.start(
                    schema,
                    List.of(InboxTest.App.class),
                    "--outbox.enabled=false",
                    "--outbox.inbox.enabled=true",
                    "--outbox.schema-mode=verify")
                .close());
    assertThat(output.getAll())
        .contains(
            "APPLICATION FAILED TO START",
            "There is no table inbox_schema",
            "copy the SQL file that docs/spring.md names");
  }

  @Test
  void anInboxThatNobodyAskedFor(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.start(schema, List.of(InboxTest.App.class), "--outbox.relay.enabled=false")
                .close());
    assertThat(output.getAll())
        .contains("There is no JoinedInbox to inject.", "Set outbox.inbox.enabled=true");
  }

  @Test
  void aStoreThatIsNotThere(CapturedOutput output) {
    refused(
        output,
        "--outbox.store=mysql",
        "No store named mysql is on the class path",
        "dev.outbox:outbox-store-postgres");
  }

  @Test
  void aPrefixThatCannotBe(CapturedOutput output) {
    refused(output, "--outbox.prefix=out box", "A property outbox.* is refused", "out box");
  }

  @Test
  void aRelayThatCannotBe(CapturedOutput output) {
    refused(
        output,
        "--outbox.relay.workers=0",
        "The relay's settings are refused: workers is 0",
        "Correct outbox.relay.*");
  }

  @Test
  void aPropertyThatIsNotThere(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.start(
                    schema,
                    "--outbox.relay.worker=3",
                    "--outbox.kafka.propertys.sasl.jaas.config=secret",
                    "--outbox.relay.retry.maxAtempts=3")
                .close());
    assertThat(output.getAll())
        .contains(
            "APPLICATION FAILED TO START",
            "There is no property outbox.relay.worker, from ",
            ": did you mean outbox.relay.workers?",
            ": did you mean outbox.kafka.properties.*?",
            ": did you mean outbox.relay.retry.max-attempts?")
        .doesNotContain("Bindable@", "secret");
  }

  @Test
  void aPropertyWhoseValueIsNone(CapturedOutput output) {
    refused(output, "--outbox.relay.workers=two", "outbox.relay.workers", "two");
  }

  @Test
  void aPoolThatIsTooSmall(CapturedOutput output) {
    refused(
        output,
        "--spring.datasource.hikari.maximum-pool-size=2",
        "The relay's settings are refused",
        "2");
  }

  @Test
  void aPublisherThatCannotBe(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.startWithKafka(
                    schema, "localhost:9092", "--outbox.kafka.properties[acks]=1")
                .close());
    assertThat(output.getAll())
        .contains("The outbox cannot publish to Kafka: acks is 1", "outbox.kafka.*");
  }

  @Test
  void severalPublishersOfWhichNoneIsChosen(CapturedOutput output) {
    assertThatThrownBy(
        () -> Application.startWithKafka(schema, "localhost:9092", "--outbox.publisher=").close());
    assertThat(output.getAll())
        .contains(
            "APPLICATION FAILED TO START",
            "several publishers on the class path, http, kafka, nats, rabbitmq, and none",
            "Set outbox.publisher to one of them");
  }

  @Test
  void aPublisherThatTakesLongerThanTheRelayWaits(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.startWithKafka(schema, "localhost:9092", "--outbox.kafka.timeout=25s")
                .close());
    assertThat(output.getAll())
        .contains("outbox.kafka.timeout is 25s, it must be below outbox.relay.publish-timeout");
  }

  /** Meant are seconds. */
  @Test
  void aLeaseThatLeavesNoTimeToPublish(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.startWithKafka(schema, "localhost:9092", "--outbox.relay.lease=30")
                .close());
    assertThat(output.getAll())
        .contains("outbox.relay.lease is 30ms: of that a call of the publisher gets 20ms")
        .contains("needs 1s: lengthen it", "a number without a unit is milliseconds")
        .doesNotContain("publish-timeout");
  }

  @Test
  void aPublishTimeoutThatLeavesNoTimeToPublish(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.startWithKafka(
                    schema, "localhost:9092", "--outbox.relay.publish-timeout=1s")
                .close());
    assertThat(output.getAll())
        .contains("outbox.relay.publish-timeout is 1s: of that a call of the publisher gets 800ms");
  }

  @Test
  void aDatabaseThatDoesNotAnswer(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.start(
                schema,
                List.of(MigrationsTest.Early.class),
                Application.WITHOUT_JPA[0],
                Application.WITHOUT_JPA[1],
                "--spring.datasource.url=jdbc:postgresql://127.0.0.1:1/shop",
                "--spring.datasource.hikari.connection-timeout=1000"));
    assertThat(output.getAll())
        .contains("The database of the DataSource dataSource does not answer", "127.0.0.1:1");
  }

  @Test
  void noOutbox(CapturedOutput output) {
    refused(
        output,
        "--outbox.enabled=false",
        "There is no JoinedOutbox to inject",
        "do not set outbox.enabled=false");
  }

  @Test
  void severalDataSources(CapturedOutput output) {
    assertThatThrownBy(
        () ->
            Application.start(
                schema, List.of(DataSourcesTest.Unmarked.class), "--shop.recording=true"));
    assertThat(output.getAll())
        .contains(
            "There are several DataSources, orders, billing, and none of them is the outbox's",
            "@OutboxDataSource");
  }
}
