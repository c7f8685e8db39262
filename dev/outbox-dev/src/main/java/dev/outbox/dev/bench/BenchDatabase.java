package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.dev.database.Jdbc;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Business;
import dev.outbox.dev.database.StoreKind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * The tables that scenarios work on, in a schema of their own, which {@link #close} removes. Row
 * writes are counted on MySQL and MariaDB where {@code performance_schema} is on, as by default on
 * MySQL.
 */
final class BenchDatabase implements AutoCloseable {
  /** Those that there are benchmarks for. */
  static final Set<StoreKind> KINDS =
      Set.of(StoreKind.POSTGRES, StoreKind.MYSQL, StoreKind.MARIADB);

  /** Of who fills the tables and asks, beside what is held open. */
  private static final int CONNECTIONS = 2;

  private static final int ROUND_TRIPS = 500;
  private static final int FILL_AT_ONCE = 1_000;

  /** Of the names of schemas. */
  private static final String BEGIN = "outbox_bench_";

  private static final String MESSAGES = "outbox_message";
  private static final String ARCHIVE = "outbox_archive_message";
  private static final String BLOCKED_KEYS = "outbox_blocked_key";
  private static final String BUCKETS = "outbox_bucket";

  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int TRIES = 60;

  /** Of MySQL and MariaDB, the first that the server knows. */
  private static final List<String> LOG_SEQUENCE_NUMBERS =
      List.of("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written");

  private static final int FIRST_WITH_FLUSH = 15;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Where messages are appended. */
  enum Side {
    /** To the outbox. */
    OURS,
    /** By bare inserts to one like it, with the only index that the limit wants. */
    LIMIT,
    /** Nowhere. */
    NEITHER
  }

  private static List<String> tables(Side side, String other) {
    return side == Side.OURS ? List.of(MESSAGES, BLOCKED_KEYS, other) : List.of(Limit.TABLE);
  }

  /**
   * Messages to be filled in, their keys by turns.
   *
   * @param keys how many; 0: unordered, each message has one of its own
   */
  record Backlog(long messages, int keys) {
    private OutboxMessage message(long n) {
      return keys == 0 ? BenchClient.unordered() : BenchClient.message((int) (n % keys));
    }
  }

  private final Place<?> root;
  private final String schema = BEGIN + UUID.randomUUID().toString().substring(0, 8);

  /** Where its tables are. */
  final Address own;

  private final StoreKind kind;
  private final JdbcPlace admin;

  /**
   * Connects and makes a schema with all tables.
   *
   * @param address of one of {@link #KINDS}
   */
  BenchDatabase(Address address) {
    root = StoreKind.at(address);
    own = root.in(schema);
    admin = (JdbcPlace) StoreKind.at(own, CONNECTIONS);
    kind = admin.kind();
    try {
      root.createSchema(schema);
      try (JdbcPlace place = open(1)) {
        place.store(Archive.FULL).migrate();
        place.inbox(null).migrate();
      }
      admin.execute(kind.sql("limit table"));
      admin.execute(kind.sql("business table"));
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private long number(String sql) {
    return Long.parseLong(admin.ask(sql.strip(), connection -> Jdbc.text(connection, sql)));
  }

  /** For the report: product and version, what its durability depends on, a round trip's time. */
  Map<String, String> describe() {
    Map<String, String> all = admin.about();
    return admin.ask(
        "the server cannot be described",
        connection -> {
          for (String setting : kind.sql("settings").split(", ")) {
            all.put(setting, Jdbc.text(connection, kind.sql("setting").formatted(setting)));
          }
          all.put("round trip of select 1", roundTrip(connection));
          return all;
        });
  }

  /** In microseconds; the median of some hundreds. */
  private static String roundTrip(Connection connection) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement("select 1")) {
      Runnable trip = () -> JdbcPlace.tried(connection, ignored -> select.executeQuery().close());
      List<Double> unused = Transactions.medians(ROUND_TRIPS, i -> List.of(trip)); // a warm-up
      return Math.round(Transactions.medians(ROUND_TRIPS, i -> List.of(trip)).get(0)) + " µs";
    }
  }

  /**
   * What a relay of so many workers needs: one each, one that holds and one for housekeeping. With
   * fewer than four it holds nothing.
   */
  static int connections(int workers) {
    return Math.max(4, workers + 2);
  }

  /** A pool of its own; ready when it returns, each connection opened. */
  JdbcPlace open(int connections) {
    return JdbcPlace.ready(own, connections, pool -> pool);
  }

  /** The same, whose work is counted. Counting is not free. */
  JdbcPlace open(int connections, LongAdder counter) {
    return JdbcPlace.ready(own, connections, pool -> StatementWatch.watch(pool, counter));
  }

  /** Empties one side's tables, so that a run does not pay for another's. */
  void empty(Side side) {
    tables(side, ARCHIVE).forEach(this::empty);
  }

  /**
   * PostgreSQL's sequences go on, so its marks stay right; the others have no marks. MariaDB waits
   * 0.7 s for its purge to leave the table, and then refuses.
   */
  private void empty(String table) {
    String sql = "truncate table %s.%s".formatted(schema, table);
    admin.tell(
        sql,
        connection -> {
          for (int attempt = 1; ; attempt++) {
            try {
              Jdbc.execute(connection, sql);
              return;
            } catch (SQLException e) {
              if (attempt == TRIES || e.getErrorCode() != LOCK_WAIT_TIMEOUT) {
                throw e;
              }
            }
          }
        });
  }

  /** Empty tables, whose pages are on the disk. */
  void renew(Side... sides) {
    for (Side side : sides) {
      empty(side);
      tidy(side);
    }
    checkpoint();
  }

  /** Adds messages, as producers do. */
  void fill(Side side, Backlog load) {
    try (BenchClient client = new BenchClient(admin)) {
      for (long from = 0; from < load.messages(); from += FILL_AT_ONCE) {
        long to = Math.min(load.messages(), from + FILL_AT_ONCE);
        client.append(side, LongStream.range(from, to).mapToObj(load::message).toList());
      }
    }
  }

  /** Vacuum and statistics: what the database would do in the background after a fill. */
  void tidy(Side side) {
    for (String table : tables(side, BUCKETS)) {
      admin.execute(kind.sql("tidy").formatted(table));
    }
  }

  /** Writes to disk what is due to be written, where one can and we may ask for that. */
  void checkpoint() {
    try {
      if (kind.has("checkpoint")) {
        admin.execute(kind.sql("checkpoint"));
      }
    } catch (TransientOutboxException e) {
      if (!(e.getCause() instanceof SQLException refused)
          || !"42501".equals(refused.getSQLState())) {
        throw e;
      }
      // the user's own server does not allow it: then it makes one when it likes to
    }
  }

  /**
   * Rows inserted, updated and deleted so far, when all pools that are closed have had their say;
   * not a number where it cannot be known.
   */
  double rows(Side side) {
    if (kind == StoreKind.POSTGRES) {
      awaitCounted();
    }
    return tables(side, BUCKETS).stream()
        .mapToDouble(table -> number(kind.sql("writes", schema).formatted(table)))
        .map(rows -> rows < 0 ? Double.NaN : rows) // MySQL and MariaDB, where they do not count
        .sum();
  }

  /** What went to the database's log, of everybody; not a number where it cannot be known. */
  double logBytes() {
    if (kind == StoreKind.POSTGRES) {
      return number(kind.sql("log bytes"));
    }
    return admin.ask(
        "log bytes",
        connection -> {
          for (String status : LOG_SEQUENCE_NUMBERS) {
            List<List<String>> rows =
                Jdbc.rows(connection, "show global status like '" + status + "'");
            if (!rows.isEmpty()) {
              return Double.parseDouble(rows.get(0).get(1));
            }
          }
          return Double.NaN;
        });
  }

  /** A session of PostgreSQL tells what it wrote at its end at the latest. */
  private void awaitCounted() {
    String open =
        "select count(*) from pg_stat_activity where application_name = '%s_pool'"
            .formatted(schema);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (number(open) > 0) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "row writes are counted when all pools are closed, but %s sessions are open"
                .formatted(number(open)));
      }
      LockSupport.parkNanos(5_000_000);
    }
    if (number("show server_version_num") / 10_000 >= FIRST_WITH_FLUSH) {
      admin.execute("select pg_stat_force_next_flush()");
    } else {
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
  }

  /** Holds a read-only snapshot: vacuum can remove nothing that is deleted from now on. */
  AutoCloseable snapshot() {
    return admin.snapshot().orElseThrow();
  }

  /** Holds a transaction that has appended a message; it does not commit. */
  AutoCloseable appender() {
    Business<Connection> open = admin.begin();
    Set<UUID> ignored = open.append(List.of(BenchClient.message(0)));
    return open;
  }

  /** Removes everything, also while a run is under way, as after Ctrl-C. */
  @Override
  public void close() {
    try (root;
        admin) {
      root.removeSchemas(schema);
    }
  }
}
