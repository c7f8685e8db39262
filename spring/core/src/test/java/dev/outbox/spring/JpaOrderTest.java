package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentOutboxException;
import dev.outbox.spring.Servers.Schema;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the server did first: JPA's update of the aggregate, or the insert of the message. */
@ExtendWith(Servers.Resolver.class)
class JpaOrderTest {

  @Test
  void theUpdateOfTheAggregateComesBeforeTheMessage(Servers servers) throws SQLException {
    assertThat(statements(servers.schema(), true))
        .containsExactly("UPDATE orders", "INSERT outbox_message");
  }

  /** So that the test above can fail: Hibernate sends its update at the end. */
  @Test
  void withoutAFlushItComesAfter(Servers servers) throws SQLException {
    assertThat(statements(servers.schema(), false))
        .containsExactly("INSERT outbox_message", "UPDATE orders");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void inACallbackOfAnEntityThereIsNoFlush(boolean flush, Servers servers) throws SQLException {
    try (Application shop =
        Application.start(
            servers.schema(),
            "--outbox.relay.enabled=false",
            "--outbox.append.flush-jpa=" + flush)) {
      shop.shop().place("order-1");
      if (flush) {
        assertThatThrownBy(() -> shop.shop().payWhenWritten("order-1"))
            .rootCause()
            .isInstanceOf(PermanentOutboxException.class)
            .hasMessageContaining("append where the change is made");
      } else {
        shop.shop().payWhenWritten("order-1");
      }
      assertThat(shop.messages()).isEqualTo(flush ? 1 : 2);
    }
  }

  /** Of a payment, in the order in which the server carried them out. */
  private static List<String> statements(Schema schema, boolean flush) {
    try (Application shop =
        Application.start(
            schema, "--outbox.relay.enabled=false", "--outbox.append.flush-jpa=" + flush)) {
      shop.shop().place("order-1");
      shop.jdbc().execute("create table seen (n bigserial, statement text)");
      shop.jdbc()
          .execute(
              """
              create function see() returns trigger language plpgsql as $$
              begin
                insert into seen (statement) values (tg_op || ' ' || tg_table_name);
                return null;
              end $$
              """);
      for (String table : List.of("orders", "outbox_message")) {
        shop.jdbc()
            .execute(
                "create trigger see after insert or update on %s execute function see()"
                    .formatted(table));
      }
      shop.shop().pay("order-1");
      return shop.jdbc().queryForList("select statement from seen order by n", String.class);
    }
  }
}
