package dev.outbox.store.mysql;

/** The TCK on MariaDB; also what {@code ./outbox tck} runs in a user's own database. */
public class MariadbStoreTck extends MysqlStoreTck {

  public MariadbStoreTck() {
    super(Tested.MARIADB);
  }
}
