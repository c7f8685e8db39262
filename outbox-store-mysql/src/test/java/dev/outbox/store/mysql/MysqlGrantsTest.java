package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.GrantsTests;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
class MysqlGrantsTest extends GrantsTests {
  private static final String PASSWORD = "s3cret-Passw0rd";

  private final Map<String, HikariDataSource> pools = new HashMap<>();

  MysqlGrantsTest(Tested tested) {
    super(tested);
  }

  @Override
  protected void create(String user) {
    database.execute("create user %s identified by '%s'".formatted(user, PASSWORD));
  }

  @Override
  protected void drop(String user) {
    if (pools.containsKey(user)) {
      pools.remove(user).close();
    }
    database.execute("drop user " + user);
  }

  @Override
  protected DataSource as(String user) {
    return pools.computeIfAbsent(user, this::pool);
  }

  private HikariDataSource pool(String user) {
    HikariConfig config = new HikariConfig();
    // The database of the URL is one that these users may not see.
    config.setJdbcUrl(
        database
            .server()
            .jdbcUrl()
            .replaceFirst("/[^/?]*(\\?.*)?$", "/" + database.schema() + "$1"));
    config.setUsername(user);
    config.setPassword(PASSWORD);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }

  @Override
  protected boolean isDenied(SQLException refused) {
    return Set.of(1142, 1143).contains(refused.getErrorCode());
  }

  @Override
  protected String connectedAs(String user) {
    return user + "@";
  }

  @Override
  protected List<String> deniedToProducer() {
    return Stream.of("seq", "bucket", "place", "attempts", "created_at")
        .map("insert into outbox_message (%s) values (1)"::formatted)
        .toList();
  }

  @Override
  protected List<String> deniedToRelay() {
    return List.of("delete from outbox_bucket");
  }

  @Test
  @DisplayName("are named to a user who lacks them")
  void missing() {
    database.execute(
        "revoke update on %s.outbox_bucket from %s".formatted(database.schema(), relay));
    JdbcOutboxStore own = builder(as(relay)).build();
    append("1");
    assertThatThrownBy(() -> own.claim(request()))
        .isInstanceOf(OutboxException.class)
        .isNotInstanceOf(TransientOutboxException.class)
        .hasMessageContaining(
            "may not run it, run: grant select, insert, update on outbox_bucket to")
        .hasMessageContaining("outbox_bucket");
  }

  @Test
  @DisplayName("let a relay hold, and end its last session")
  void holds() throws SQLException {
    try (Keeper keeper = keeperOfAll(keeping(as(relay)), database, Duration.ofMinutes(1))) {
      append("k");
      Claim claim = claimOne(keeper, request());
      assertThat(claim.settle(Map.of(claim.messages().get(0).sequence(), Decision.delivered())))
          .isEmpty();
    }
    MysqlText text =
        new MysqlText(
            new PrefixedNames(null, PrefixedNames.DEFAULT_PREFIX), ((Tested) tested()).flavor);
    try (Connection last = as(relay).getConnection();
        Connection next = as(relay).getConnection()) {
      assertThat(new RelayLocks(text).show(Jdbi.open(last), 16)).isTrue();
      assertThat(new RelayLocks(text).show(Jdbi.open(next), 16)).isTrue();
    }
  }
}
