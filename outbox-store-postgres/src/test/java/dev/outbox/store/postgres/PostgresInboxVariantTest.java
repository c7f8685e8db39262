package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;

/** The TCK of inboxes once more, as {@link PostgresVariantTest} is of stores. */
class PostgresInboxVariantTest extends PostgresInboxTck {

  @Override
  protected void configure(HikariConfig config) {
    PostgresVariantTest.vary(config);
  }

  @Override
  protected String prefix() {
    return "billing_seen_";
  }
}
