package dev.outbox.store.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.sqlserver.jdbc.SQLServerDriver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A pool of our own")
class SqlServerStoreProviderTest {

  @Test
  @DisplayName("keeps prepared statements, by settings that the driver has and does not set itself")
  void keepsStatements() throws SQLException {
    Map<String, String> ofDriver =
        Arrays.stream(
                new SQLServerDriver().getPropertyInfo("jdbc:sqlserver://host", new Properties()))
            .collect(
                Collectors.toMap(
                    (DriverPropertyInfo info) -> info.name, info -> String.valueOf(info.value)));
    assertThat(ofDriver)
        .containsEntry("disableStatementPooling", "true")
        .containsEntry("statementPoolingCacheSize", "0");
    assertThat(new SqlServerStoreProvider().poolSettings())
        .containsOnlyKeys("disableStatementPooling", "statementPoolingCacheSize")
        .containsEntry("disableStatementPooling", "false")
        .hasEntrySatisfying(
            "statementPoolingCacheSize",
            size -> assertThat(Integer.parseInt(size)).isGreaterThan(Texts.statements().size()));
  }
}
