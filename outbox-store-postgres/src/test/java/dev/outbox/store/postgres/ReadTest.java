package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.ReadTests;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A claim reads")
class ReadTest extends ReadTests {
  ReadTest() {
    super(new Postgres());
  }
}
