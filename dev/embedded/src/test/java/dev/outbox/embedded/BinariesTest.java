package dev.outbox.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BinariesTest {

  @Test
  @DisplayName("no text for people has the password")
  void toStrings() {
    Path path = Path.of("x");
    assertThat(new MysqlBinaries("8", List.of(), path, "geheim")).hasToString("x");
    PostgresInstallation server = new PostgresInstallation("18", path, false);
    assertThat(new PostgresBinaries(server, path, "geheim")).hasToString("x");
  }
}
