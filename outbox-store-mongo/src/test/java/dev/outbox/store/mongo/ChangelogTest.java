package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.PrefixedNames;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The changelog")
class ChangelogTest {

  @Test
  @DisplayName("has the prefix before each name")
  void prefix() {
    assertThat(Changelog.of(CollectionKind.OUTBOX, new PrefixedNames(null, "billing_")).script())
        .isEqualTo(
            Changelog.of(CollectionKind.OUTBOX, new PrefixedNames(null, "outbox_"))
                .script()
                .replace("outbox_", "billing_"))
        .doesNotContain("${");
  }
}
