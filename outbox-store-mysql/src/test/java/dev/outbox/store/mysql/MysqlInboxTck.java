package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcInboxTck;

/** The TCK of inboxes on MySQL; also what {@code ./outbox tck} runs in a user's own database. */
public class MysqlInboxTck extends JdbcInboxTck {

  public MysqlInboxTck() {
    this(Tested.MYSQL);
  }

  MysqlInboxTck(Tested tested) {
    super(tested);
  }
}
