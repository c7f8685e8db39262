package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What it does with schemas is tested where there is a client: in outbox-payloads. */
class EmbeddedRegistryTest {

  @Test
  @DisplayName("after close no process and no file is left")
  void closeLeavesNothing() {
    EmbeddedRegistry registry = EmbeddedRegistry.start();
    long pid = registry.pid();
    assertThat(EmbeddedPostgresTest.isRunning(pid)).isTrue();
    registry.close();
    assertThat(EmbeddedPostgresTest.isRunning(pid)).isFalse();
    assertThat(registry.directory()).doesNotExist();
  }
}
