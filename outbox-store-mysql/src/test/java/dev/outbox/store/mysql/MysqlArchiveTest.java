package dev.outbox.store.mysql;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.ArchiveStore.Who;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.jdbc.ArchiveTests;
import dev.outbox.store.jdbc.Intercepted;
import dev.outbox.store.jdbc.JdbcOutboxStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
@DisplayName("The archive")
class MysqlArchiveTest extends ArchiveTests {
  MysqlArchiveTest(Tested tested) {
    super(tested);
  }

  @Override
  protected void keep(Connection transaction) {
    try (Statement statement = transaction.createStatement()) {
      assertThat(
              statement.executeUpdate(
                  "delete from outbox_archive_message where archived_at < %s order by archived_at, seq limit 1000"
                      .formatted(daysAgo(30))))
          .isEqualTo(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @DisplayName("a settle that would delete what was not copied is undone")
  void copiesLess() {
    append(message("a"), message("b"));
    DataSource lessCopied =
        Intercepted.rewriting(
            database.pool,
            sql ->
                sql.startsWith("insert into outbox_archive_message")
                    ? sql.replace("and m.id = l.id", "and m.id = l.id and m.aggregate_id <> 'a'")
                    : sql);
    Claim claim = builder(lessCopied).archive(Archive.FULL).build().claim(request());
    Map<Long, Decision> decisions = all(claim, Decision.delivered());
    assertThatThrownBy(() -> claim.settle(decisions))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageContaining("1 messages were copied into the archive, and 2 were to be deleted");
    assertThat(archived()).isEmpty();
    assertThat(database.query("select count(*) from outbox_message")).isEqualTo("2");
  }

  @Test
  @DisplayName("a migration that was interrupted goes on: each statement commits by itself")
  void interrupted() {
    int statements = Database.statements(store.ddl()).length;
    int ofOutbox = Database.statements(builder(database.pool).build().ddl()).length;
    assertThat(statements - ofOutbox).as("statements of the archive").isEqualTo(4);
    for (int done = 1; done < statements - ofOutbox; done++) {
      database.empty();
      builder(database.pool).build().migrate();
      database.execute(
          Arrays.copyOfRange(Database.statements(store.ddl()), ofOutbox, ofOutbox + done));
      JdbcOutboxStore again = builder(database.pool).archive(Archive.FULL).build();
      assertThatThrownBy(again::verify).isInstanceOf(SchemaException.class);
      again.migrate();
      again.verify();
      append(message("a"));
      assertThat(delivered()).hasSize(1);
      assertThat(archived()).as("after %d statements", done).hasSize(1);
      assertThat(again.discard(Set.of(1L), Who.named("alice"))).isEmpty();
    }
  }
}
