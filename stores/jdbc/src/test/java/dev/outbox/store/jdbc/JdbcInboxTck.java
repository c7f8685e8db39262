package dev.outbox.store.jdbc;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.tck.MovesClock;
import dev.outbox.tck.SchemaFixture;
import dev.outbox.tck.inbox.JdbcInboxStoreTck;
import java.sql.Connection;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The TCK of inboxes on a relational database; an inbox of ours adds its server. Statements name
 * the tables with the default prefix.
 */
public abstract class JdbcInboxTck extends JdbcInboxStoreTck implements SchemaFixture, MovesClock {
  private final Started started = new Started();

  private final TestedStore tested;

  protected JdbcInboxTck(TestedStore tested) {
    this.tested = tested;
  }

  protected JdbcInboxStore.Builder<?, ?> builder(DataSource dataSource) {
    return tested.inbox(dataSource);
  }

  /** The pool's settings; a variant changes them. */
  protected void configure(HikariConfig config) {}

  protected final TestDatabase database() {
    return started.database();
  }

  /** A variant changes it. */
  @Override
  protected String prefix() {
    return PrefixedNames.INBOX_PREFIX;
  }

  @BeforeAll
  @Override
  protected void start() {
    if (started.start(tested::start, server -> tested.database(server, this::configure))) {
      super.start();
    }
  }

  @AfterAll
  void stop() {
    started.close();
  }

  @Override
  protected DataSource dataSource() {
    return database().pool;
  }

  @Override
  protected InboxStore<Connection> createStore(DataSource dataSource, Duration retention) {
    return builder(dataSource).prefix(prefix()).retention(retention).build();
  }

  @Override
  protected void inTransaction(Consumer<Connection> work) {
    database().inTransaction(false, work);
  }

  @Override
  public void dropSchema() {
    database().empty();
  }

  @Override
  public void makeSchemaOlder() {
    execute(named("update inbox_schema set version = version - 1"));
  }

  @Override
  public void makeSchemaNewer() {
    execute(named("update inbox_schema set version = version + 1"));
  }

  @Override
  public void emptyInternalRows() {
    execute(named("delete from inbox_schema"));
  }

  @Override
  public void restoreSchema() {
    dropSchema();
    super.start();
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    execute(
        named(
            "update inbox_message set lock_until = %s, expires_at = %s"
                .formatted(
                    tested.earlier("lock_until", by.toMillis()),
                    tested.earlier("expires_at", by.toMillis()))));
  }
}
