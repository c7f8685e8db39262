package dev.outbox.store.sqlserver;

import com.zaxxer.hikari.HikariConfig;

/** The TCK of inboxes once more, as {@link SnapshotOffTest} is of stores. */
class SqlServerInboxVariantTest extends SqlServerInboxTck {

  @Override
  protected void configure(HikariConfig config) {
    SnapshotOffTest.vary(config);
  }

  @Override
  protected String prefix() {
    return "billing_seen_";
  }
}
