package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.core.internal.PrefixedNames;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

  @ParameterizedTest
  @EnumSource
  @DisplayName("writes the version last: what was interrupted is not taken for whole")
  void versionComesLast(CollectionKind kind) {
    Map<String, String> parameters = Map.of("p", "outbox_", "seconds", "60");
    List<BsonDocument> commands = new Changelog(kind, parameters).commands();
    assertThat(commands)
        .filteredOn(command -> command.containsValue(new BsonString("outbox_schema")))
        .containsExactly(commands.get(commands.size() - 1));
  }
}
