package dev.outbox.store.postgres;

import dev.outbox.PermanentOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.JdbcTransactions;
import dev.outbox.store.jdbc.internal.Server;
import dev.outbox.store.jdbc.internal.TableKind;
import dev.outbox.store.jdbc.internal.UnsupportedDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** What PostgreSQL needs from its client, what its errors mean, and which servers are refused. */
final class PostgresServer extends Server {
  private static final String VERSION = "version()";

  /** Shows other databases that give the version of a PostgreSQL. */
  private static final String SIGNS =
      """
      select lower(n.nspname::text) as sign
      from pg_catalog.pg_namespace n where n.nspname in ('spanner_sys', 'SPANNER_SYS')
      union all
      select n.nspname || '.' || c.relname
      from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'sys' and c.relname = 'iam_pg_role_mappings'
      """;

  private static final String SCHEMA_VERSION =
      """
      select version, getdatabaseencoding() as encoding,
        concat_ws(', ', ${version}, (select string_agg(s.sign, ', ') from (${signs}) s)) as said,
        exists (${citus}) as citus, ${sequence} as sequence
      from ${q}${p}schema where ctid >= '(0,0)'
      """
          .replace("${version}", VERSION)
          .replace("${signs}", SIGNS)
          .replace("${citus}", Citus.IS_THERE);

  private static final List<UnsupportedDatabase> DISTRIBUTED =
      List.of(
          new UnsupportedDatabase(
              "YugabyteDB",
              "-yb-",
              "each of its sessions draws sequences from a cache of its own, so messages of one key would lose their order"),
          new UnsupportedDatabase(
              "CockroachDB",
              "cockroachdb",
              "it has no transaction ids and snapshots as PostgreSQL has, by which the store knows that no earlier message is still to come"),
          new UnsupportedDatabase(
              "Aurora DSQL",
              "sys.iam_pg_role_mappings",
              "it locks no row before the commit, so relays could not lease past one another"),
          new UnsupportedDatabase(
              "Spanner",
              "spanner_sys",
              "the numbers of its sequences do not ascend, so messages of one key would have no order"));

  private static final String PLACE =
      """
      select format('schema %s of database %s', n.nspname, current_database())
      from ${q}${p}schema s
      join pg_class c on c.oid = s.tableoid
      join pg_namespace n on n.oid = c.relnamespace
      where s.ctid >= '(0,0)'
      """;

  /** With a cache, a session gives out numbers that the low-water marks have passed long ago. */
  private static final String WRONG_SEQUENCE =
      """
      (select format('the sequence %1$s has cache %2$s and increment %3$s, and messages have an order only with 1 and 1: a session would give them numbers that others have long passed; run alter sequence %1$s cache 1 increment 1',
          s.seqrelid::regclass, s.seqcache, s.seqincrement)
        from pg_catalog.pg_sequence s
        where s.seqrelid = pg_get_serial_sequence('${q}${p}message', 'seq')::regclass
          and (s.seqcache <> 1 or s.seqincrement <> 1))
      """;

  /** Where a user with a right sees no row, because no policy is for it. */
  private static final String HIDDEN =
      """
      select string_agg(t, ', ') from unnest(array[%s]) t
      where row_security_active(t) and has_table_privilege(t, '%s') and not exists (
        select from pg_catalog.pg_policy p, unnest(p.polroles) role
        where p.polrelid = t::regclass and p.polpermissive and p.polcmd in ('*', 'r')
          and case when role = 0 then true else pg_has_role(role, 'usage') end)
      """;

  /** Where a policy refuses a row, or to hide rows: no grant would help. */
  private static final Set<String> BY_POLICY = Set.of("ExecWithCheckOptions", "check_enable_rls");

  /** Where a standby refuses what our transactions begin with, and what a look asks. */
  private static final Set<String> BY_STANDBY =
      Set.of("call_bool_check_hook", "pg_current_wal_insert_lsn", "pg_current_wal_flush_lsn");

  private final Pooler pooler;

  /** Runs the statements of each batch. */
  final BatchStatements statements = new BatchStatements(this::fill);

  PostgresServer(PrefixedNames names, TableKind tables, Pooler pooler) {
    super("PostgreSQL", PLACE, names, tables);
    this.pooler = pooler;
  }

  @Override
  public void check(Connection connection) throws SQLException {
    pooler.check(connection);
  }

  @Override
  public Trouble trouble(SQLException failure) {
    String state = failure.getSQLState() == null ? "" : failure.getSQLState();
    return switch (state) {
      case "40001", "40P01", "55P03" -> Trouble.CONFLICT;
      case "23514" -> isWithoutPartition(failure) ? Trouble.CONFLICT : Trouble.OTHER;
      case "42P01", "42703", "3F000" -> Trouble.MISSING_SCHEMA;
      case "25006" -> Trouble.READ_ONLY;
      case "0A000", "55000" -> isIn(BY_STANDBY, failure) ? Trouble.READ_ONLY : Trouble.OTHER;
      case "25P02" -> Trouble.FAILED_BEFORE;
      case "28000", "28P01", "3D000" -> Trouble.REFUSED;
      case "42501" -> isIn(BY_POLICY, failure) ? Trouble.OTHER : Trouble.FORBIDDEN;
      // Starting up or shutting down, no connection left.
      case "57P03", "53300", "08001", "08004" -> Trouble.UNREACHABLE;
      // No disk space, no memory, a limit of the configuration.
      case "53000", "53100", "53200", "53400" -> Trouble.EXHAUSTED;
      // Time limits of statements, transactions and sessions.
      case "57014", "25P03", "25P04", "57P05" -> Trouble.CUT_OFF;
      // Shut down, or the session was ended; another process of the server crashed.
      case "57P01", "57P02" -> Trouble.LOST;
      default -> {
        if (failure instanceof SQLTransientConnectionException) {
          yield Trouble.UNREACHABLE;
        }
        yield state.startsWith("08") && !Pooler.isWithoutTransactions(failure)
            ? Trouble.LOST
            : Trouble.OTHER;
      }
    };
  }

  /** What the server says of an error besides its text, which is in the server's language. */
  private static Optional<ServerErrorMessage> said(SQLException failure) {
    return Optional.ofNullable(JdbcTransactions.cause(failure, PSQLException.class))
        .map(PSQLException::getServerErrorMessage);
  }

  /** Whether it is one of these functions of the server that has failed. */
  private static boolean isIn(Set<String> routines, SQLException failure) {
    return said(failure).map(ServerErrorMessage::getRoutine).filter(routines::contains).isPresent();
  }

  /**
   * Whether a row has no partition, or the one for the rest just ceased to be for its day: a check
   * has a name, and bounds have none. Of our tables only the archive has partitions. It is no fault
   * of a message: tried again, the row has the partition that was made meanwhile.
   */
  private static boolean isWithoutPartition(SQLException failure) {
    return "23514".equals(failure.getSQLState())
        && said(failure).filter(error -> error.getConstraint() == null).isPresent();
  }

  @Override
  public @Nullable String advice(SQLException failure) {
    if (isWithoutPartition(failure)) {
      return "if the archive has no partition for today, let housekeeping make it (%s)"
          .formatted(names().table("archive_keep"));
    }
    if (Pooler.isWithoutTransactions(failure)) {
      return "because a pooler allows no transactions, as PgBouncer with pool_mode=statement: use pool_mode=transaction or session";
    }
    if (Pooler.isMixedUp(failure)) {
      return "is there a pooler between, as PgBouncer in transaction mode? then " + Pooler.REMEDY;
    }
    if (isIn(BY_POLICY, failure)) {
      return "let the table's policies pass all rows of this user, or disable row level security on the table";
    }
    // Wrong syntax: of our statements only the names are not ours.
    return "42601".equals(failure.getSQLState())
        ? "is the schema's name a reserved word? then choose another"
        : null;
  }

  @Override
  public void begin(Connection connection, Duration patience) throws SQLException {
    BatchStatements.begin(connection, patience);
  }

  @Override
  public void beginWithLeases(Handle handle, Duration patience) {
    statements.beginWithFirst(handle, patience);
  }

  @Override
  public boolean beginSingle(Handle handle, Duration patience) {
    statements.beginSingle(handle, patience);
    return true;
  }

  /** An inbox has no order to lose. */
  private List<UnsupportedDatabase> distributed() {
    return tables() == TableKind.INBOX ? List.of() : DISTRIBUTED;
  }

  /** One statement after the other, because not each of these servers takes both. */
  @Override
  public void identify(Connection connection) throws SQLException {
    for (String question : List.of("select " + VERSION, SIGNS)) {
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(question)) {
        while (rows.next()) {
          UnsupportedDatabase.refuse(distributed(), name(), rows.getString(1));
        }
      }
    }
  }

  /** An expression: what is wrong with the sequence that gives rows their order; or null. */
  private String wrongSequence() {
    return tables() == TableKind.INBOX || tables() == TableKind.ARCHIVE ? "null" : WRONG_SEQUENCE;
  }

  @Override
  public int schemaVersion(Connection connection) throws SQLException {
    pooler.check(connection);
    String sql = fill(SCHEMA_VERSION.replace("${sequence}", wrongSequence()));
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      if (!rows.next()) {
        refuseHidden(connection, "select", "schema");
        return 0;
      }
      String encoding = rows.getString("encoding");
      if (!encoding.equals("UTF8")) {
        throw new PermanentOutboxException(
            "the database's encoding is %s, which cannot hold every text: use one that was created with encoding 'UTF8'"
                .formatted(encoding));
      }
      UnsupportedDatabase.refuse(distributed(), name(), rows.getString("said"));
      if (rows.getBoolean("citus") && !distributed().isEmpty()) {
        Citus.refuseDistributed(connection, names());
      }
      String sequence = rows.getString("sequence");
      if (sequence != null) {
        throw new PermanentOutboxException(sequence);
      }
      return rows.getInt("version");
    }
  }

  /** Or else it would find no messages, and say nothing. */
  @Override
  public void checkRows(Connection connection) throws SQLException {
    if (tables() != TableKind.INBOX && tables() != TableKind.ARCHIVE) {
      refuseHidden(connection, "update", "message", "bucket", "blocked_key");
    }
  }

  private void refuseHidden(Connection connection, String right, String... tables)
      throws SQLException {
    String names =
        Arrays.stream(tables)
            .map(table -> "'${q}${p}%s'".formatted(table))
            .collect(Collectors.joining(", "));
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(fill(HIDDEN.formatted(names, right)))) {
      if (row.next() && row.getString(1) != null) {
        throw new PermanentOutboxException(
            "row level security hides all rows of %s from this user: make a policy that lets them pass, or disable it (alter table … disable row level security)"
                .formatted(row.getString(1)));
      }
    }
  }

  /** Of several rights at once it would say whether there is any of them. */
  @Override
  public String hasRight(String kind) {
    return switch (kind) {
      case "column" -> "select has_column_privilege(?, ?, ?)";
      case "function" -> "select coalesce(has_function_privilege(to_regproc(?), ?), false)";
      default -> "select has_%s_privilege(?, ?)".formatted(kind);
    };
  }

  @Override
  public String fill(String sql) {
    return names().fill(PostgresText.fill(sql));
  }
}
