package dev.outbox.spring.modulith;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.PermanentOutboxException;
import dev.outbox.payload.PayloadSerializer;
import dev.outbox.payload.SerializedPayload;
import dev.outbox.spring.EventRecorder;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.config.EventPublicationAutoConfiguration;
import org.springframework.modulith.events.core.EventPublicationRegistry;

/** When events go through the outbox, and what is refused at the start. */
class ConditionsTest {
  private final ApplicationContextRunner alone =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(OutboxModulithAutoConfiguration.class))
          .withPropertyValues("spring.modulith.events.externalization.mode=outbox");
  private final ApplicationContextRunner modulith =
      alone.withBean(
          EventExternalizationConfiguration.class, EventExternalizationConfiguration::disabled);
  private final ApplicationContextRunner outbox =
      modulith.withBean(JoinedOutbox.class, () -> messages -> Appended.of(messages, Set.of()));
  private final ApplicationContextRunner whole =
      outbox.withBean(
          PayloadSerializer.class,
          () -> (about, payload) -> SerializedPayload.of(new byte[0], "text/plain"));

  @Test
  void inTheModeOutbox() {
    whole.run(context -> assertThat(context).hasSingleBean(EventRecorder.class));
  }

  /** Else an event that the child publishes would be appended twice. */
  @Test
  void aChildContextHasThatOfItsParent() {
    whole.run(
        parent ->
            whole
                .withParent(parent)
                .run(
                    child ->
                        assertThat(child.getBean(EventRecorder.class))
                            .isSameAs(parent.getBean(EventRecorder.class))));
  }

  @Test
  void inNoOtherMode() {
    for (String other : new String[] {"mode=module-listener", "mode=", "enabled=false"}) {
      whole
          .withPropertyValues("spring.modulith.events.externalization." + other)
          .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(EventRecorder.class));
    }
  }

  /** Without a word the events would be lost. */
  @Test
  void withoutAnOutboxItDoesNotStart() {
    modulith.run(
        context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining(JoinedOutbox.class.getName()));
  }

  /** As with spring-modulith-events-api and nothing else of Modulith's. */
  @Test
  void withoutTheExternalizationOfModulithItDoesNotStart() {
    alone
        .withBean(JoinedOutbox.class, () -> messages -> Appended.of(messages, Set.of()))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(PermanentOutboxException.class)
                    .hasMessageContaining("spring-modulith-events-core"));
  }

  /**
   * Modulith 2 looks for stale publications of a registry, and does not look whether it is there.
   */
  @Test
  void itStartsWithoutARegistryOfPublications() {
    whole
        .withConfiguration(AutoConfigurations.of(EventPublicationAutoConfiguration.class))
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .hasSingleBean(EventRecorder.class)
                    .doesNotHaveBean(EventPublicationRegistry.class));
  }

  @Test
  void withoutAWriterOfPayloadsItDoesNotStart() {
    outbox.run(
        context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageContaining("nothing to write externalized events with")
                .hasMessageContaining("spring-boot-starter-jackson"));
  }
}
