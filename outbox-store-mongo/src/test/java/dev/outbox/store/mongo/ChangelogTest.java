package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.Names;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The changelog")
class ChangelogTest {

  @Test
  @DisplayName("has the prefix before each name")
  void prefix() {
    assertThat(Changelog.of(Contents.OUTBOX, new Names(null, "billing_")).script())
        .isEqualTo(
            Changelog.of(Contents.OUTBOX, new Names(null, "outbox_"))
                .script()
                .replace("outbox_", "billing_"))
        .doesNotContain("${");
  }
}
