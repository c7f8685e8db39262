package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.spring.Servers.Schema;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * What somebody reads whose application does not start: a refusal for each of the analyzers. The
 * tests of the auto-configuration have the others.
 */
@ExtendWith({Servers.Resolver.class, OutputCaptureExtension.class})
class RefusalsTest {
  private static Schema empty;

  @BeforeAll
  static void schema(Servers servers) throws SQLException {
    empty = servers.schema();
  }

  private static AbstractStringAssert<?> assertRefused(
      Class<?> application, CapturedOutput output, String... settings) {
    String[] arguments =
        Stream.concat(Stream.of(Application.WITHOUT_JPA), Stream.of(settings))
            .toArray(String[]::new);
    assertThatThrownBy(() -> Application.start(empty, List.of(application), arguments).close());
    return assertThat(output.getAll()).contains("APPLICATION FAILED TO START");
  }

  @Test
  void missingTables(CapturedOutput output) {
    assertRefused(MigrationsTest.Early.class, output, "--outbox.schema-mode=verify")
        .contains(
            "There is no table outbox_schema",
            "Set outbox.schema-mode=migrate",
            "liquibase-core",
            "copy the SQL file that docs/spring.md names");
  }

  @Test
  void anInboxWithoutTables(CapturedOutput output) {
    assertRefused(
            InboxTest.App.class,
            output,
            "--outbox.enabled=false",
            "--outbox.inbox.enabled=true",
            "--outbox.schema-mode=verify")
        .contains("There is no table inbox_schema");
  }

  @Test
  void anInboxThatNobodyAskedFor(CapturedOutput output) {
    assertRefused(InboxTest.App.class, output, "--outbox.enabled=false")
        .contains("There is no JoinedInbox to inject.", "Set outbox.inbox.enabled=true");
  }

  @Test
  void noOutbox(CapturedOutput output) {
    assertRefused(MigrationsTest.Early.class, output, "--outbox.enabled=false")
        .contains(
            "There is no JoinedOutbox to inject",
            "do not set outbox.enabled=false",
            "@AutoConfigureRecordingOutbox of dev.outbox:outbox-spring-test");
  }

  @Test
  void aPropertyThatIsNotThere(CapturedOutput output) {
    assertRefused(
            MigrationsTest.Early.class,
            output,
            "--outbox.relay.worker=3",
            "--outbox.kafka.propertys.sasl.jaas.config=secret",
            "--outbox.relay.retry.maxAtempts=3")
        .contains(
            "There is no property outbox.relay.worker, from ",
            ": did you mean outbox.relay.workers?",
            ": did you mean outbox.kafka.properties.*?",
            ": did you mean outbox.relay.retry.max-attempts?")
        .doesNotContain("Bindable@", "secret");
  }
}
