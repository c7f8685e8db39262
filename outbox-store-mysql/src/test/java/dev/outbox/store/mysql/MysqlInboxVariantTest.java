package dev.outbox.store.mysql;

import com.zaxxer.hikari.HikariConfig;

/** The TCK of inboxes once more, as {@link MysqlVariantTest} is of stores. */
class MysqlInboxVariantTest extends MysqlInboxTck {

  @Override
  protected void configure(HikariConfig config) {
    MysqlVariantTest.vary(config);
  }

  @Override
  protected String prefix() {
    return "billing_seen_";
  }
}
