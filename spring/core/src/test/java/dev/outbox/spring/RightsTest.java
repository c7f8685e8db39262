package dev.outbox.spring;

import static dev.outbox.spring.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spring.Servers.Schema;
import dev.outbox.spring.autoconfigure.Endpoints;
import dev.outbox.spring.autoconfigure.Healths;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.postgresql.Driver;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/** An application with a relay, and a database user that may append and nothing else. */
@ExtendWith(Servers.Resolver.class)
class RightsTest {

  @Test
  void aRelayThatMayOnlyAppendIsDownUntilItHasItsRights(Servers servers) throws Exception {
    Schema schema = servers.schema();
    Application.start(schema).close(); // makes the tables
    SimpleDriverDataSource database =
        new SimpleDriverDataSource(new Driver(), schema.url(), schema.user(), schema.password());
    JdbcTemplate owner = new JdbcTemplate(database);
    String user = schema.name();
    owner.execute("create role %s login password 'append'".formatted(user));
    owner.execute("grant usage on schema %s to %s".formatted(schema.name(), user));
    owner.execute("grant select, insert, update on orders to %s".formatted(user));
    List<String> grants =
        List.of(PostgresOutboxStore.of(database).grants(user, "the_relay").split(";\\s*"));
    grants.stream().filter(grant -> grant.contains(user)).forEach(owner::execute);
    try (Application shop =
        Application.start(
            new Schema(schema.name(), schema.url(), user, "append"),
            "--outbox.schema-mode=verify",
            "--management.endpoints.web.exposure.include=outbox",
            "--spring.jpa.hibernate.ddl-auto=none")) {
      shop.shop().place("1");
      await().untilAsserted(() -> assertThat(Healths.status(shop.context())).isEqualTo("DOWN"));
      assertThat(Healths.error(shop.context()).toString())
          .contains("nothing is published", " fails since ", "permission denied", "grant ");
      assertThat(Endpoints.relay(shop.context())).contains("state=failing");

      grants.stream()
          .filter(grant -> grant.contains("the_relay"))
          .map(grant -> grant.replace("the_relay", user))
          .forEach(owner::execute);
      await().untilAsserted(() -> assertThat(Healths.status(shop.context())).isEqualTo("UP"));
      await().untilAsserted(() -> assertThat(shop.delivered()).containsExactly("OrderPlaced 1"));
      assertThat(Endpoints.relay(shop.context())).contains("state=running");
    } finally {
      owner.execute("drop owned by %s".formatted(user));
      owner.execute("drop role %s".formatted(user));
    }
  }
}
