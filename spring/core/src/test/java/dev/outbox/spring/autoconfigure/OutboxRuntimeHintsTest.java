package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;

class OutboxRuntimeHintsTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev/outbox/store/postgres/changelog.sql",
        "dev/outbox/store/postgres/grants.sql",
        "dev/outbox/store/mysql/changelog.sql",
        "dev/outbox/store/sqlserver/changelog.sql",
        "dev/outbox/store/mongo/changelog.xml",
        "dev/outbox/store/mongo/grants.js"
      })
  void aNativeImageHas(String resource) {
    RuntimeHints hints = new RuntimeHints();
    new OutboxRuntimeHints().registerHints(hints, null);
    assertThat(RuntimeHintsPredicates.resource().forResource(resource)).accepts(hints);
    assertThat(RuntimeHintsPredicates.resource().forResource("application.properties"))
        .rejects(hints);
  }
}
