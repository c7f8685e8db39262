package dev.outbox.store.jdbc.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.OutboxException;
import dev.outbox.SchemaException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.jdbc.internal.Server.Trouble;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.jdbi.v3.core.HandleCallback;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** On a connection that says what was asked of it; an error's SQLSTATE is the trouble it means. */
@DisplayName("The store's own transactions")
class JdbcTransactionsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(7);
  private static final List<String> ASKED =
      List.of("setAutoCommit", "commit", "rollback", "abort", "close");

  private static final List<String> ROLLED_BACK =
      List.of(
          "setAutoCommit false", "begin PT7S", "rollback", "end", "setAutoCommit true", "close");

  private final List<String> asked = new ArrayList<>();
  private boolean autoCommit = true;
  private boolean broken;
  private boolean failsAtBegin;
  private boolean cannotRollBack;
  private String advice;
  private long now;
  private JdbcTransactions waiting;
  private final Connection connection =
      proxy(Connection.class, (p, m, a) -> connection(m.getName(), a));
  private final JdbcTransactions transactions =
      new JdbcTransactions(
          proxy(DataSource.class, (p, m, a) -> connection),
          new FakeServer(),
          Grants.Role.RELAY,
          () -> now);

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private Object connection(String method, Object[] a) throws SQLException {
    note(method, a);
    if (broken && !method.equals("close")) {
      throw new SQLException("the connection is broken", "OTHER");
    }
    if (cannotRollBack && method.equals("rollback")) {
      throw new SQLException("no rollback", "OTHER");
    }
    if (method.equals("setAutoCommit")) {
      autoCommit = (boolean) a[0];
    }
    return switch (method) {
      case "getAutoCommit" -> autoCommit;
      case "unwrap" ->
          proxy(Connection.class, (p, m, args) -> asked.add("driver's " + m.getName()));
      default -> method.startsWith("is") ? false : null;
    };
  }

  private final class FakeServer extends Server {
    FakeServer() {
      super("Fake", "", new PrefixedNames(null, "x_"), TableKind.OUTBOX);
    }

    @Override
    public Trouble trouble(SQLException failure) {
      return failure.getSQLState() == null ? Trouble.OTHER : Trouble.valueOf(failure.getSQLState());
    }

    @Override
    public String advice(SQLException failure) {
      return advice;
    }

    @Override
    String grants() {
      return """
          -- One; two.
          grant select on ${q}${p}bucket to ${relay};
          grant insert (a)
            on ${q}${p}dedup to ${producer};
          grant usage on schema ${schema} to ${relay};
          """;
    }

    @Override
    public void begin(Connection begun, Duration patience) throws SQLException {
      asked.add("begin " + patience);
      if (failsAtBegin) {
        throw new SQLException("not now", "OTHER");
      }
    }

    @Override
    public void end(Connection ended) throws SQLException {
      asked.add("end");
      if (failsAtBegin) {
        throw new SQLException("nothing to put back", "OTHER");
      }
    }

    @Override
    public int schemaVersion(Connection asking) {
      return TableKind.VERSION;
    }

    @Override
    public String fill(String sql) {
      return sql;
    }
  }

  private void note(String method, Object[] a) {
    if (ASKED.contains(method)) {
      asked.add(method.equals("setAutoCommit") ? method + " " + a[0] : method);
    }
  }

  private static <R> HandleCallback<R, SQLException> failing(String state) {
    return handle -> {
      throw new SQLException("boom", state);
    };
  }

  private AbstractThrowableAssert<?, ?> assertFails(HandleCallback<?, SQLException> work) {
    return assertThatThrownBy(() -> transactions.runSql(PATIENCE, work));
  }

  @Test
  @DisplayName("know how long one of them waits for a connection")
  void waiting() {
    List<Duration> waited = new ArrayList<>();
    DataSource slow =
        proxy(
            DataSource.class,
            (p, m, a) -> {
              now += 5;
              waited.add(waiting.waiting());
              return connection;
            });
    waiting = new JdbcTransactions(slow, new FakeServer(), Grants.Role.RELAY, () -> now);
    assertThat(waiting.<Boolean>run(PATIENCE, handle -> true)).isTrue();
    assertThat(waited).containsExactly(Duration.ofNanos(5));
    assertThat(waiting.waiting()).as("afterwards").isZero();
  }

  @Test
  @DisplayName("say that memory is used up, whatever the driver makes of it")
  void outOfMemory() {
    SQLException driver =
        new SQLException(
            "Ran out of memory retrieving query results.",
            Trouble.UNREACHABLE.name(),
            new OutOfMemoryError("Java heap space"));
    assertFails(
            handle -> {
              throw driver;
            })
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith("this process ran out of memory in a call of the Fake store")
        .hasMessageContaining("-Xmx");
  }

  @Nested
  @DisplayName("leave a connection as it came")
  class Connections {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("committed, with the auto-commit that it had")
    void committed(boolean before) {
      autoCommit = before;
      boolean result = transactions.run(PATIENCE, handle -> asked.add("work"));
      assertThat(result).isTrue();
      assertThat(asked)
          .containsExactly(
              "setAutoCommit false",
              "begin PT7S",
              "work",
              "commit",
              "end",
              "setAutoCommit " + before,
              "close");
    }

    @Test
    @DisplayName("rolled back when the work fails")
    void rolledBack() {
      assertFails(failing("OTHER")).isInstanceOf(OutboxException.class);
      assertThat(asked).isEqualTo(ROLLED_BACK);
    }

    @Test
    @DisplayName("rolled back when the work throws what is not of JDBC, which goes on as it is")
    void otherFailure() {
      IllegalStateException bug = new IllegalStateException("a bug");
      assertThatThrownBy(
              () ->
                  transactions.run(
                      PATIENCE,
                      handle -> {
                        throw bug;
                      }))
          .isSameAs(bug);
      assertThat(asked).contains("rollback", "close").doesNotContain("commit");
    }

    @Test
    @DisplayName("also when what was never set cannot be put back")
    void failedAtBegin() {
      failsAtBegin = true;
      assertThatThrownBy(() -> transactions.run(PATIENCE, handle -> asked.add("work")))
          .hasMessageContaining("not now");
      assertThat(asked).isEqualTo(ROLLED_BACK);
    }

    @Test
    @DisplayName("but not where it cannot be rolled back: setting auto-commit would commit")
    void cannotBeRolledBack() {
      cannotRollBack = true;
      assertFails(failing("OTHER")).hasMessageContaining("boom");
      assertThat(asked).containsExactly("setAutoCommit false", "begin PT7S", "rollback", "close");
    }

    @Test
    @DisplayName("but end it where the server takes no writes: another may be the primary by now")
    void readOnlyServer() {
      assertThatThrownBy(() -> transactions.runSql(PATIENCE, failing("READ_ONLY")))
          .hasMessageContaining("boom");
      assertThat(asked)
          .as("not the pool's abort: c3p0 would never have it back")
          .containsExactly(
              "setAutoCommit false",
              "begin PT7S",
              "driver's abort",
              "rollback",
              "end",
              "setAutoCommit true",
              "close");
    }

    @Test
    @DisplayName("and where it broke, the failure that is told is the first one")
    void broken() {
      assertFails(
              handle -> {
                broken = true;
                throw new SQLException("boom", "CUT_OFF");
              })
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageContaining("boom");
      assertThat(asked).endsWith("close");
    }
  }

  @Nested
  @DisplayName("run again after a conflict")
  class Conflicts {
    private int runs;

    private HandleCallback<Integer, SQLException> losing(int times) {
      return handle -> {
        if (++runs <= times) {
          throw new SQLException("boom", "CONFLICT");
        }
        return runs;
      };
    }

    @Test
    @DisplayName("until the fifth time, and then tell the caller")
    void fiveTimes() {
      int run = transactions.runSql(PATIENCE, losing(4));
      assertThat(run).isEqualTo(5);
      runs = 0;
      assertFails(losing(5)).isInstanceOf(TransientOutboxException.class);
      assertThat(runs).isEqualTo(5);
    }

    @Test
    @DisplayName("and no longer than their patience, where each waits for a lock")
    void noLongerThanTheirPatience() {
      assertFails(
              handle -> {
                now += PATIENCE.dividedBy(2).toNanos();
                return losing(5).withHandle(handle);
              })
          .isInstanceOf(TransientOutboxException.class);
      assertThat(runs).isEqualTo(2);
    }

    @Test
    @DisplayName("and after nothing else")
    void nothingElse() {
      assertFails(
              handle -> {
                runs++;
                throw new SQLException("boom", "CUT_OFF");
              })
          .isInstanceOf(TransientOutboxException.class);
      assertThat(runs).isEqualTo(1);
    }
  }

  @Nested
  @DisplayName("say what went wrong")
  class Sentences {

    @ParameterizedTest
    @CsvSource({
      "CONFLICT, Fake gave the transaction up because another held its locks",
      "UNREACHABLE, no connection to Fake",
      "CUT_OFF, 'Fake ended the statement or the connection, as after a time limit'",
      "LOST, the connection to Fake was lost",
      "EXHAUSTED, Fake has no disk space or memory left"
    })
    @DisplayName("where another try may help")
    void passing(String state, String sentence) {
      assertThat(transactions.translate(new SQLException("boom", state)))
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith(sentence)
          .hasMessageEndingWith(" boom (SQLSTATE " + state + ")");
    }

    @Test
    @DisplayName("where a pool says in its own words that it has no connection")
    void pools() {
      SQLException usedUp = new SQLException("borrowing timed out");
      assertThat(transactions.translate(usedUp))
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith("no connection to Fake")
          .hasMessageContaining("borrowing timed out");
      SQLException refused = new SQLException("wrong password", "REFUSED");
      assertThat(transactions.translate(new SQLException("cannot create a connection", refused)))
          .isNotInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith("Fake refused the connection")
          .hasMessageContaining("wrong password");
    }

    @ParameterizedTest
    @CsvSource({
      "REFUSED, Fake refused the connection",
      "FAILED_BEFORE, the transaction has failed already",
      "READ_ONLY, the transaction is read-only",
      "OTHER, Fake refused a statement: boom"
    })
    @DisplayName("where it does not")
    void lasting(String state, String sentence) {
      assertThat(transactions.translate(new SQLException("boom", state)))
          .isInstanceOf(OutboxException.class)
          .isNotInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith(sentence)
          .hasMessageContaining("boom (SQLSTATE " + state + ")");
    }

    @ParameterizedTest
    @CsvSource({
      "RELAY, SELECT denied on 'x_bucket', run: grant select on x_bucket to this user (outbox grants prints all): S",
      "PRODUCER, denied for x_dedup, run: grant insert (a) on x_dedup to this user (outbox grants prints all): denied",
      "RELAY, denied for schema other, give this user what outbox grants prints: denied",
      "RELAY, denied for x_buckets, give this user what outbox grants prints: denied"
    })
    @DisplayName("with the right that is missing")
    void forbidden(Grants.Role role, String detail, String advice) {
      assertThat(transactions.translate(new SQLException(detail, "FORBIDDEN"), Set.of(role)))
          .isInstanceOf(OutboxException.class)
          .isNotInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith(
              "Fake refused a statement because this user may not run it, " + advice)
          .hasMessageEndingWith(detail + " (SQLSTATE FORBIDDEN)");
    }

    @Test
    @DisplayName("with the table that is missing")
    void missingSchema() {
      assertThat(transactions.translate(new SQLException("boom", "MISSING_SCHEMA")))
          .isInstanceOf(SchemaException.class)
          .hasMessageContaining("(table x_message)");
    }

    @Test
    @DisplayName("with the database's advice, where it has one")
    void advice() {
      advice = "enlarge it";
      assertThat(transactions.translate(new SQLException("boom", "OTHER")))
          .hasMessageStartingWith("Fake refused a statement, enlarge it: boom");
    }

    @Test
    @DisplayName("by the database's error, however deep it lies; without one, by what there is")
    void cause() {
      SQLException sql = new SQLException("boom", "REFUSED");
      Exception deep = new IllegalStateException(new IllegalArgumentException(sql));
      assertThat(transactions.translate(deep)).hasMessageContaining("boom").hasCause(deep);
      Throwable none =
          catchThrowable(
              () -> {
                throw transactions.translate(new Exception("odd"));
              });
      assertThat(none).hasMessage("the Fake store failed: java.lang.Exception: odd");
    }
  }
}
