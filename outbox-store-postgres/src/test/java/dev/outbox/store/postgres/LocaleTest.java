package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.LocaleTests;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The system's language")
class LocaleTest extends LocaleTests {
  LocaleTest() {
    super(new Postgres());
  }
}
