package dev.outbox.dev.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.cli.Address;
import dev.outbox.dev.Cli;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.TestServer;
import dev.outbox.store.redis.RedisUrl;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;

/** What a tck that was interrupted has left is removed, and nothing else. */
class LeftoversTest {
  private final String mine = "dev_" + UUID.randomUUID().toString().substring(0, 8);

  private static DatabaseServer server(String store) {
    return store.equals("mysql") ? DatabaseServer.mysql() : DatabaseServer.postgres();
  }

  private static Address address(DatabaseServer server) {
    return new Address(server.jdbcUrl(), server.user(), server.password());
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgres", "mysql"})
  @DisplayName("by tck --clean")
  void clean(String store) throws Exception {
    try (DatabaseServer server = server(store);
        Place<?> database = StoreKind.connect(address(server))) {
      String left = "outbox_tck_00c0ffee";
      List.of(left + "_1", left + "_2", mine).forEach(database::createSchema);
      Cli cli =
          Cli.run(
              "tck",
              "--clean",
              "--url=" + server.jdbcUrl(),
              "--user=" + server.user(),
              "--password=" + server.password());
      assertThat(cli.code()).as(cli.err()).isZero();
      assertThat(cli.out()).contains("Removed: ", left);
      assertThat(database.schemas("outbox_tck_")).isEmpty();
      assertThat(database.schemas(mine)).containsExactly(mine);
      database.removeSchemas(mine);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgres", "mysql"})
  @DisplayName("also while it is still in use")
  void inUse(String store) throws Exception {
    try (DatabaseServer server = server(store);
        Place<?> database = StoreKind.connect(address(server))) {
      String name = mine + "_tck";
      List.of(name + "_1", mine + "xtck_1").forEach(database::createSchema);
      Address named = database.named(name);
      try (Connection busy =
              DriverManager.getConnection(named.url(), named.user(), named.password());
          Statement statement = busy.createStatement()) {
        String enter = StoreKind.of(named.url()).enter(name + "_1");
        if (enter != null) {
          statement.execute(enter);
        }
        statement.execute("create table %s_1.t as select 1 as n".formatted(name));
        busy.setAutoCommit(false);
        statement.execute("insert into %s_1.t values (2)".formatted(name));

        TckCommand.removeSchemas(database, name);

        assertThat(database.schemas(mine)).containsExactly(mine + "xtck_1");
        assertThat(busy.isValid(5)).isFalse();
      }
      database.removeSchemas(mine);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"postgres", "mysql"})
  @DisplayName("is nothing where this user may make no schema, who is told the grant")
  void grant(String store) throws Exception {
    String password = "Xw3-r1ghtless";
    boolean isMysql = store.equals("mysql");
    try (DatabaseServer server = server(store);
        Connection owner =
            DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
        Statement statement = owner.createStatement()) {
      statement.execute(
          isMysql
              ? "create user %s identified by '%s'".formatted(mine, password)
              : "create role %s login password '%s'".formatted(mine, password));
      String url = server.jdbcUrl();
      if (isMysql) {
        statement.execute("grant select on `%s`.* to %s".formatted(owner.getCatalog(), mine));
      }
      try (Place<?> database = StoreKind.connect(new Address(url, mine, password))) {
        Cli cli = Cli.run("tck", "--url=" + url, "--user=" + mine, "--password=" + password);
        assertThat(cli.code()).isEqualTo(2);
        assertThat(cli.err()).contains("; as who may give rights, run: grant ").hasLineCount(1);
        statement.execute(cli.err().strip().replaceFirst(".* run: ", ""));
        database.createSchema("outbox_" + mine);
        database.removeSchemas("outbox_" + mine);
      } finally {
        if (!isMysql) {
          statement.execute("drop owned by " + mine);
        }
        statement.execute("drop %s %s".formatted(isMysql ? "user" : "role", mine));
      }
    }
  }

  @Test
  @DisplayName("of MongoDB")
  void mongo() {
    try (TestServer server = TestServer.mongo();
        Place<?> database = StoreKind.connect(new Address(server.address(), "", ""));
        var client = com.mongodb.client.MongoClients.create(server.address())) {
      String begin = mine + "_tck";
      try {
        for (String each : List.of(begin + "_1", begin + "_2", mine + "xtck")) {
          client.getDatabase(each).createCollection("t");
        }
        database.createSchema(begin);
        TckCommand.removeSchemas(database, begin);
        assertThat(client.listDatabaseNames().into(new ArrayList<>()))
            .filteredOn(each -> each.startsWith(mine))
            .containsExactly(mine + "xtck");
      } finally {
        client.getDatabase(mine + "xtck").drop();
      }
    }
  }

  @Test
  @DisplayName("of Redis")
  void redis() {
    try (TestServer server = TestServer.redis();
        Place<?> database = StoreKind.connect(new Address(server.address(), "", ""));
        RedisClient client = RedisUrl.of(server.address()).client(1)) {
      String left = "{outbox_tck_00c0ffee-1}:outbox:schema";
      String other = "{%s}:outbox:schema".formatted(mine);
      try {
        List.of(left, other).forEach(key -> client.set(key, "1"));
        assertThat(database.schemas("outbox_tck_")).contains("outbox_tck_00c0ffee-1");
        database.createSchema(mine + "_tck");
        Cli cli = Cli.run("tck", "--clean", "--url=" + server.address());
        assertThat(cli.code()).as(cli.err()).isZero();
        assertThat(cli.out()).contains("Removed: ", "outbox_tck_00c0ffee");
        assertThat(client.exists(left)).isFalse();
        assertThat(client.exists(other)).isTrue();
      } finally {
        long unused = client.unlink(left, other);
      }
    }
  }
}
