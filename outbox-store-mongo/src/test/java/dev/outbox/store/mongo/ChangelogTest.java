package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.Names;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The changelog")
class ChangelogTest {

  @Test
  @DisplayName("says what the plain script says")
  void plainFile() throws IOException {
    assertThat(Changelog.script(new Names(null, "outbox_")))
        .as("schema-1.js; when the changelog has changed, write ddl() there")
        .isEqualTo(
            Files.readString(Path.of("src/main/resources/dev/outbox/store/mongo/schema-1.js")));
  }

  @Test
  @DisplayName("has the prefix before each name")
  void prefix() {
    assertThat(Changelog.script(new Names(null, "billing_")))
        .isEqualTo(Changelog.script(new Names(null, "outbox_")).replace("outbox_", "billing_"))
        .doesNotContain("${");
  }
}
