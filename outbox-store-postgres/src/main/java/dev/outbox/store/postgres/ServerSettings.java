package dev.outbox.store.postgres;

import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.store.jdbc.internal.ServerChecks;
import dev.outbox.store.jdbc.internal.ServerChecks.Setting;
import java.util.Map;

/** What is looked at in a server of PostgreSQL. */
final class ServerSettings {
  private static final String TORN =
      "a crash of the machine can lose messages that are committed, or bring published ones back";

  /** As a session has them at its beginning: our transactions set some for themselves. */
  static final ServerChecks CHECKS =
      new ServerChecks(
          """
          select name, reset_val from pg_settings
          where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum')
            and reset_val = 'off'
          """,
          "select (extract(epoch from clock_timestamp()) * 1000)::bigint",
          Map.of(
              "fsync",
              off(Severity.PROBLEM, TORN),
              "full_page_writes",
              off(Severity.PROBLEM, TORN),
              "synchronous_commit",
              off(
                  Severity.WARNING,
                  "a crash of the server loses the last commits of producers, with their messages"),
              "autovacuum",
              off(
                  Severity.WARNING,
                  "the rows of delivered messages stay, and claims get slower and slower")));

  private ServerSettings() {}

  private static Setting off(Severity severity, String otherwise) {
    return new Setting(severity, otherwise, "alter system set %s = on; select pg_reload_conf()");
  }
}
