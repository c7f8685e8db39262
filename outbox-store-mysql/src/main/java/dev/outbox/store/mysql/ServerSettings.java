package dev.outbox.store.mysql;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.Finding.Severity;
import dev.outbox.store.jdbc.internal.ServerChecks;
import dev.outbox.store.jdbc.internal.ServerChecks.Setting;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;

/** The server's settings that an outbox depends on, its clock, and transactions that stay open. */
final class ServerSettings {
  private static final ServerChecks CHECKS =
      new ServerChecks(
          """
          show global variables where
            variable_name = 'innodb_flush_log_at_trx_commit' and value <> '1'
            or variable_name = 'sync_binlog' and value <> '1' and @@log_bin
            or variable_name = 'binlog_format' and value = 'STATEMENT' and @@log_bin
          """,
          """
          select timestampdiff(microsecond, timestamp '1970-01-01 00:00:00', utc_timestamp(6)) div 1000
          """,
          Map.of(
              "innodb_flush_log_at_trx_commit",
              new Setting(
                  Severity.WARNING,
                  "a crash can lose messages that are committed, or bring published ones back",
                  "set global %s = 1"),
              "sync_binlog",
              new Setting(
                  Severity.WARNING,
                  "after a crash the binary log, and so a replica, may lack what was published",
                  "set global %s = 1"),
              "binlog_format",
              new Setting(
                  Severity.PROBLEM,
                  "the server refuses what relays write at READ COMMITTED",
                  "set global %s = ROW, and start the relays anew")));

  /** The server writes down when one began in the time of its own zone. */
  private static final String OLD_TRANSACTIONS =
      """
      select t.trx_mysql_thread_id as thread, timestampdiff(second, t.trx_started,
        convert_tz(utc_timestamp(), '+00:00', 'SYSTEM')) as seconds
      from information_schema.innodb_trx t
      where t.trx_mysql_thread_id <> connection_id()
      having seconds >= :old
      order by seconds desc
      limit 5
      """;

  /**
   * Galera's servers draw numbers of one residue each, as it sets them; when a server comes or goes
   * they change. So only messages of the last minute are looked at; and only those that wait still
   * are there.
   */
  private static final String WRITERS =
      """
      select count(distinct m.seq mod @@global.auto_increment_increment) from (
        select m.seq, m.created_at from ${q}${p}message m force index (${p}message_seq)
        order by m.seq desc limit 100) m
      where m.created_at > utc_timestamp(6) - interval 1 minute
      """;

  private static final String CLUSTER = "cluster";

  /** The user lacks PROCESS. */
  private static final int ACCESS_DENIED = 1227;

  private static final String OPEN = "open transactions";

  /** Younger transactions are nothing to speak of. */
  static final Duration OLD = Duration.ofMinutes(1);

  private ServerSettings() {}

  static List<Finding> findings(Handle handle, Duration old) {
    List<Finding> findings = new ArrayList<>(CHECKS.findings(handle));
    findings.addAll(cluster(handle));
    findings.addAll(Finding.orFine(OPEN, oldTransactions(handle, old)));
    return findings;
  }

  private static List<Finding> cluster(Handle handle) {
    return UnparsedSql.query(handle, MysqlHolding.IS_CLUSTER)
        .map((row, context) -> row.getString(1) + " is " + row.getString(2))
        .list()
        .stream()
        .map(is -> cluster(is, handle.createQuery(WRITERS).mapTo(Integer.class).one()))
        .toList();
  }

  private static Finding cluster(String is, int writers) {
    return writers > 1
        ? Finding.warning(
            CLUSTER,
            "%s, and what waits came in by %s servers in the last minute, so keys may lose their order"
                .formatted(is, writers),
            "let all producers, relays and operators write to one server")
        : Finding.fine(
            CLUSTER,
            is
                + ": keys keep their order while all producers, relays and operators write to one server");
  }

  private static List<Finding> oldTransactions(Handle handle, Duration old) {
    try {
      return handle
          .createQuery(OLD_TRANSACTIONS)
          .bind("old", old.toSeconds())
          .map((row, context) -> old(row.getLong("thread"), row.getLong("seconds")))
          .list();
    } catch (UnableToExecuteStatementException e) {
      if (e.getCause() instanceof SQLException refused && refused.getErrorCode() == ACCESS_DENIED) {
        return List.of(Finding.fine(OPEN, "not looked at: that needs the right PROCESS"));
      }
      throw e;
    }
  }

  /** A prepared transaction whose session has ended has no thread. */
  private static Finding old(long thread, long seconds) {
    return Finding.warning(
        OPEN,
        "%s has been open for %s s, so what was delivered since cannot be purged, and claims get slower and slower"
            .formatted(
                thread == 0 ? "a prepared transaction" : "a transaction of session " + thread,
                seconds),
        thread == 0 ? "xa recover, then xa rollback or xa commit of its id" : "kill " + thread);
  }
}
