package dev.outbox.dev.bench;

import dev.outbox.Archive;
import dev.outbox.Header;
import dev.outbox.OutboxMessage;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.LimitWorker;
import dev.outbox.dev.bench.BenchDatabase.Pin;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.database.Jdbc;
import dev.outbox.dev.database.JdbcKind;
import dev.outbox.dev.database.JdbcPlace;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Session;
import dev.outbox.dev.database.StoreKind;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL, MySQL or MariaDB. Row writes are counted on MySQL and MariaDB where {@code
 * performance_schema} is on, as by default on MySQL.
 */
final class JdbcBench extends BenchDatabase<Connection> {
  private static final int FILL_AT_ONCE = 10_000;

  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final int TRIES = 60;

  /** Of MySQL and MariaDB, the first that the server knows. */
  private static final List<String> LOG_SEQUENCE_NUMBERS =
      List.of("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written");

  private static final String NOT_ALLOWED = "42501";
  private static final int FIRST_WITH_FLUSH = 15;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final String INSERT =
      """
      insert into ${s}.like_message (id, aggregate_type, aggregate_id, event_type, partition_key,
        payload, content_type, headers, dedup_key, correlation_id, max_attempts, available_at)
      values\s""";

  private final String schema;
  private final JdbcKind kind;
  private final boolean isPostgres;
  private final JdbcPlace admin;
  private boolean mayCheckpoint = true;

  JdbcBench(Address own) {
    super(own);
    schema = Objects.requireNonNull(own.schema());
    kind = StoreKind.of(own.url()).jdbc();
    isPostgres = kind == JdbcKind.POSTGRES;
    if (!kind.has("fill")) {
      throw new Failure("there are no benchmarks for " + kind);
    }
    admin = (JdbcPlace) StoreKind.at(own);
  }

  @Override
  String schema() {
    return schema;
  }

  private void execute(String sql) {
    admin.tell(sql.strip(), on -> Jdbc.execute(on, sql.replace("${s}", schema)));
  }

  private long number(String sql) {
    return admin.ask(sql.strip(), connection -> Jdbc.number(connection, sql));
  }

  @Override
  void create() {
    try (JdbcPlace place = place(1, null)) {
      place.store(Archive.FULL).migrate();
      place.inbox(null).migrate();
    }
    execute(kind.sql("limit table"));
    execute(kind.sql("business table"));
    execute("create table ${s}.number (n bigint not null primary key)");
    execute(
        IntStream.range(0, FILL_AT_ONCE)
            .mapToObj("(%s)"::formatted)
            .collect(Collectors.joining(", ", "insert into ${s}.number values ", "")));
  }

  @Override
  Map<String, String> describe() {
    Map<String, String> all = admin.about();
    return admin.ask(
        "the server cannot be described",
        connection -> {
          for (String setting : kind.sql("settings").split(", ")) {
            all.put(setting, Jdbc.text(connection, kind.sql("setting").formatted(setting)));
          }
          try (PreparedStatement select = connection.prepareStatement("select 1")) {
            all.put("round trip of select 1", roundTrip(select::executeQuery));
          }
          return all;
        });
  }

  @Override
  JdbcPlace place(int connections, @Nullable WorkCounter counter) {
    return JdbcPlace.ready(
        kind,
        own(),
        connections,
        pool -> counter == null ? pool : StatementWatch.watch(pool, counter));
  }

  @Override
  void business(Place<Connection> place, Connection connection) {
    String insert = "insert into %s.business (customer, amount) values ('customer-1', 1250)";
    JdbcPlace.tried(connection, on -> Jdbc.update(on, insert.formatted(schema)));
  }

  @Override
  void bare(Place<Connection> place, Connection connection, List<OutboxMessage> messages) {
    String rows = String.join(", ", Collections.nCopies(messages.size(), kind.sql("limit row")));
    List<@Nullable Object> parameters = new ArrayList<>();
    for (OutboxMessage message : messages) {
      parameters.add(isPostgres ? message.id() : message.id().toString());
      parameters.add(message.aggregateType());
      parameters.add(message.aggregateId());
      parameters.add(message.eventType());
      parameters.add(message.partitionKey());
      parameters.add(message.payload());
      parameters.add(message.contentType());
      parameters.add(Header.toJson(message.headers()));
      parameters.add(message.dedupKey());
      parameters.add(message.correlationId());
      parameters.add(message.maxAttempts());
      parameters.add(null); // when it is due: at once
    }
    String sql = INSERT.replace("${s}", schema) + rows;
    JdbcPlace.tried(connection, on -> Jdbc.update(on, sql, parameters.toArray()));
  }

  @Override
  LimitWorker limitWorker(Place<Connection> place, int most) {
    Session<Connection> session = place.session();
    try {
      return new JdbcLimit(kind, session, schema, most);
    } catch (SQLException e) {
      session.close();
      throw new IllegalStateException(
          "the limit's statements cannot be prepared: " + e.getMessage(), e);
    }
  }

  /**
   * PostgreSQL's sequences go on, so its marks stay right; the others have no marks. MariaDB waits
   * 0.7 s for its purge to leave the table, and then refuses.
   */
  @Override
  void empty(String table) {
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

  private String on(String statement, String table) {
    return kind.sql(statement, schema).replace("${t}", schema + "." + table);
  }

  @Override
  void fill(Side side, Backlog load) {
    byte[] payload = new byte[Backlog.PAYLOAD];
    Arrays.fill(payload, (byte) 'x');
    admin.tell(
        "filling",
        connection -> {
          try (PreparedStatement insert =
              connection.prepareStatement(on("fill", side == Side.OURS ? MESSAGES : LIMIT))) {
            insert.setString(1, Backlog.KEY);
            insert.setInt(2, load.keys());
            insert.setInt(3, load.keys());
            insert.setBytes(4, payload);
            for (long from = 0; from < load.messages(); from += FILL_AT_ONCE) {
              insert.setLong(5, from);
              insert.setLong(6, Math.min(load.messages() - from, FILL_AT_ONCE));
              insert.executeUpdate();
            }
          }
        });
  }

  @Override
  void tidy(Side side) {
    (side == Side.OURS ? List.of(MESSAGES, BLOCKED_KEYS, "outbox_bucket") : List.of(LIMIT))
        .forEach(table -> execute(on("tidy", table)));
  }

  @Override
  void checkpoint() {
    if (kind.has("checkpoint") && mayCheckpoint) {
      admin.tell(
          "checkpoint",
          connection -> {
            try {
              Jdbc.execute(connection, kind.sql("checkpoint"));
            } catch (SQLException e) {
              mayCheckpoint = false; // then the server makes them when it likes to
              if (!NOT_ALLOWED.equals(e.getSQLState())) {
                throw e;
              }
            }
          });
    }
  }

  @Override
  double rows(Side side) {
    if (isPostgres) {
      awaitCounted();
    }
    return super.rows(side);
  }

  /** MySQL and MariaDB say -1 where they do not count. */
  @Override
  double rows(String table) {
    long rows = number(kind.sql("writes", schema).formatted(table));
    return rows < 0 ? Double.NaN : rows;
  }

  @Override
  double logBytes() {
    if (isPostgres) {
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
    String open = " from pg_stat_activity where application_name = '%s_pool'".formatted(schema);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (number("select count(*)" + open) > 0) {
      if (System.nanoTime() - end > 0) {
        String what =
            "select string_agg(concat_ws(' ', state, wait_event_type, wait_event,"
                + " now() - query_start, query), '; ')";
        throw new IllegalStateException(
            "row writes are counted when all pools are closed, but there is still: "
                + admin.ask(what, connection -> Jdbc.text(connection, what + open)));
      }
      LockSupport.parkNanos(5_000_000);
    }
    if (number("show server_version_num") / 10_000 >= FIRST_WITH_FLUSH) {
      execute("select pg_stat_force_next_flush()");
    } else {
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
  }

  @Override
  boolean pins() {
    return true;
  }

  /** By a pool of its own. */
  @Override
  AutoCloseable pin(Pin pin) {
    JdbcPlace place = JdbcPlace.patient(kind, own(), Archive.NONE, 2, Place.PATIENCE);
    try {
      Session<Connection> session = place.session();
      JdbcPlace.tried(
          session.begin(),
          connection -> {
            switch (pin) {
              case SNAPSHOT -> {
                for (String sql : kind.all("pin snapshot")) {
                  Jdbc.execute(connection, sql);
                }
              }
              case APPENDER -> {
                var unused = place.store().append(connection, OpenLoad.message(0));
              }
            }
          });
      return () -> {
        session.close();
        place.close();
      };
    } catch (RuntimeException e) {
      place.close(); // with its session
      throw e;
    }
  }

  @Override
  void closeOwn() {
    admin.close();
  }
}
