package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentOutboxException;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** What the server did first: JPA's update of the aggregate, or the insert of the message. */
@ExtendWith(Servers.Resolver.class)
class JpaOrderTest {

  @Test
  void theUpdateOfTheAggregateComesBeforeTheMessage(Servers servers) throws SQLException {
    try (Application shop = start(servers, true)) {
      assertThat(statements(shop)).containsExactly("UPDATE orders", "INSERT outbox_message");
      assertThatThrownBy(() -> shop.shop().payWhenWritten("order-2"))
          .rootCause()
          .isInstanceOf(PermanentOutboxException.class)
          .hasMessageContaining("append where the change is made");
      assertThat(shop.messages()).isEqualTo(3);
    }
  }

  /** So that the test above can fail: Hibernate sends its update at the end. */
  @Test
  void withoutAFlushItComesAfter(Servers servers) throws SQLException {
    try (Application shop = start(servers, false)) {
      assertThat(statements(shop)).containsExactly("INSERT outbox_message", "UPDATE orders");
      shop.shop().payWhenWritten("order-2");
      assertThat(shop.messages()).isEqualTo(4);
    }
  }

  private static Application start(Servers servers, boolean flush) throws SQLException {
    Application shop =
        Application.start(
            servers.schema(), "--outbox.relay.enabled=false", "--outbox.append.flush-jpa=" + flush);
    shop.shop().place("order-1");
    shop.shop().place("order-2");
    return shop;
  }

  /** Of a payment, in the order in which the server carried them out. */
  private static List<String> statements(Application shop) {
    shop.jdbc()
        .execute(
            """
            create table seen (n bigserial, statement text);
            create function see() returns trigger language plpgsql as $$
            begin
              insert into seen (statement) values (tg_op || ' ' || tg_table_name);
              return null;
            end $$;
            create trigger see after insert or update on orders execute function see();
            create trigger see after insert or update on outbox_message execute function see()
            """);
    shop.shop().pay("order-1");
    return shop.jdbc().queryForList("select statement from seen order by n", String.class);
  }

  /** As Spring 7 binds a StatelessSession. */
  @Test
  void whereThereIsNoEntityManagerNothingIsFlushed(Servers servers) throws SQLException {
    try (Application shop = start(servers, true)) {
      Application.commit(
          shop.transaction(),
          () -> {
            TransactionSynchronizationManager.bindResource(this, new EntityManagerHolder(null));
            try {
              shop.append(Application.message("order-3", "OrderPlaced"));
            } finally {
              TransactionSynchronizationManager.unbindResource(this);
            }
          });
      assertThat(shop.messages()).isEqualTo(3);
    }
  }
}
