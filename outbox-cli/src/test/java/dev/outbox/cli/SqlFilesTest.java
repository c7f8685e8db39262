package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of docs/sql, for who has another tool for migrations, are what the stores print. */
class SqlFilesTest {
  private static final Path SQL = Path.of("..", "docs", "sql");
  private static final Path RIGHT = Path.of("target", "sql");

  @ParameterizedTest
  @ValueSource(strings = {"postgres", "mysql", "mariadb", "sqlserver"})
  @DisplayName("have the statements of the store")
  void same(String store) throws IOException {
    String outbox = printed(store);
    String both = printed(store, "--archive=full");
    assertThat(both).startsWith(outbox).isEqualTo(printed(store, "--archive=metadata"));
    Map<String, String> right =
        Map.of(
            "outbox-" + store, outbox,
            "archive-" + store, both.substring(outbox.length()).stripLeading(),
            "inbox-" + store, printed(store, "--inbox"));
    Files.createDirectories(RIGHT);
    for (Map.Entry<String, String> file : right.entrySet()) {
      Files.writeString(RIGHT.resolve(file.getKey() + ".sql"), file.getValue());
    }
    for (Map.Entry<String, String> file : right.entrySet()) {
      Path there = SQL.resolve(file.getKey() + ".sql");
      assertThat(Files.exists(there) ? Files.readString(there) : "")
          .as("%s; the right one is in %s", there, RIGHT)
          .isEqualTo(file.getValue());
    }
  }

  private static String printed(String store, String... options) {
    return Cli.run(List.of(options), "migrate", "--print", "--store", store).done();
  }
}
