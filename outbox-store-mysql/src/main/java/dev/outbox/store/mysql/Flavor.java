package dev.outbox.store.mysql;

/** What MySQL and MariaDB call differently. Both collations compare every byte, pad nothing. */
enum Flavor {
  MYSQL(
      "MySQL",
      "MariadbOutboxStore",
      "utf8mb4_0900_bin",
      "$1",
      "for update of m",
      true,
      "transaction_isolation",
      "transaction_read_only",
      "true"),
  MARIADB(
      "MariaDB",
      "MysqlOutboxStore",
      "utf8mb4_nopad_bin",
      "_utf8mb4$1 collate utf8mb4_nopad_bin",
      "for update",
      false,
      "tx_isolation",
      "tx_read_only",
      "version() < '12'");

  final String title;

  /** The store for the other one. */
  final String other;

  final String collation;

  /** How a status, {@code $1}, is written where one is looked for. */
  final String status;

  /** How messages, {@code m}, are locked that are found by a list: MySQL refuses to lock a list. */
  final String lockMessages;

  /** Whether a DELETE looks up by the index that a hint in its comment names. */
  final boolean obeysHints;

  final String isolation;
  final String readOnly;

  /**
   * Whether this server's binary log, if there is one, is written and synchronised before a commit
   * can be seen. MariaDB can have it in InnoDB from version 12 on.
   */
  final String logsFirst;

  Flavor(
      String title,
      String other,
      String collation,
      String status,
      String lockMessages,
      boolean obeysHints,
      String isolation,
      String readOnly,
      String logsFirst) {
    this.title = title;
    this.other = other;
    this.collation = collation;
    this.status = status;
    this.lockMessages = lockMessages;
    this.obeysHints = obeysHints;
    this.isolation = isolation;
    this.readOnly = readOnly;
    this.logsFirst = logsFirst;
  }
}
