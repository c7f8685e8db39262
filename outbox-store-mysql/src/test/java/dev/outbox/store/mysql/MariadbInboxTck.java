package dev.outbox.store.mysql;

/** The TCK of inboxes on MariaDB; also what {@code ./outbox tck} runs in a user's own database. */
public class MariadbInboxTck extends MysqlInboxTck {

  public MariadbInboxTck() {
    super(Tested.MARIADB);
  }
}
