package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcInboxTck;

/**
 * The TCK of inboxes on PostgreSQL; also what {@code ./outbox tck} runs in a user's own database.
 */
public class PostgresInboxTck extends JdbcInboxTck {

  public PostgresInboxTck() {
    super(new Postgres());
  }
}
