package dev.outbox.store.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.spi.store.Claim;
import dev.outbox.store.jdbc.internal.Server.Trouble;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Errors")
class ErrorsTest {
  private static final String PASSWORD = "s3cret-Passw0rd";

  private static SQLException error(int number, String state, String message) {
    return new SQLException(message, state, number);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "1205, CONFLICT",
    "3960, CONFLICT",
    "3961, CONFLICT",
    "1204, CONFLICT",
    "1222, CONFLICT",
    "601, CONFLICT",
    "3958, CONFLICT",
    "3966, CONFLICT",
    "701, CONFLICT",
    "8645, CONFLICT",
    "2601, CONFLICT",
    "2627, CONFLICT",
    "207, MISSING_SCHEMA",
    "208, MISSING_SCHEMA",
    "308, MISSING_SCHEMA",
    "2760, MISSING_SCHEMA",
    "3906, READ_ONLY",
    "845, CUT_OFF",
    "8628, CUT_OFF",
    "9002, EXHAUSTED",
    "1105, EXHAUSTED",
    "229, FORBIDDEN",
    "230, FORBIDDEN",
    "262, FORBIDDEN",
    "3930, FAILED_BEFORE",
    "3998, FAILED_BEFORE",
    "3971, FAILED_BEFORE",
    "916, REFUSED",
    "18456, REFUSED",
    "18452, REFUSED",
    "18486, REFUSED",
    "18487, REFUSED",
    "18488, REFUSED",
    "3908, UNREACHABLE",
    "922, UNREACHABLE",
    "976, UNREACHABLE",
    "978, UNREACHABLE",
    "942, UNREACHABLE",
    "952, UNREACHABLE",
    "4221, UNREACHABLE",
    "18401, UNREACHABLE",
    "983, UNREACHABLE",
    "17142, UNREACHABLE",
    "6005, UNREACHABLE",
    "4060, UNREACHABLE",
    "615, UNREACHABLE",
    "926, UNREACHABLE",
    "10928, UNREACHABLE",
    "10929, UNREACHABLE",
    "40197, UNREACHABLE",
    "40020, UNREACHABLE",
    "40143, UNREACHABLE",
    "40166, UNREACHABLE",
    "40540, UNREACHABLE",
    "40501, UNREACHABLE",
    "40613, UNREACHABLE",
    "49918, UNREACHABLE",
    "49919, UNREACHABLE",
    "49920, UNREACHABLE",
    "596, LOST",
    "547, OTHER",
    "650, OTHER",
    "1934, OTHER",
    "8622, OTHER",
    "8115, OTHER"
  })
  @DisplayName("have numbers that say what they mean")
  void numbers(int number, Trouble trouble) {
    assertThat(Errors.trouble(error(number, "S0001", "x"))).isEqualTo(trouble);
  }

  @Test
  @DisplayName("of the driver have none")
  void ofTheDriver() {
    assertThat(Errors.trouble(new SQLTimeoutException("The query has timed out.", "HY008", 0)))
        .isEqualTo(Trouble.CUT_OFF);
    assertThat(Errors.trouble(new SQLTransientConnectionException("pool")))
        .isEqualTo(Trouble.UNREACHABLE);
    assertThat(Errors.trouble(error(0, "08S01", "Connection reset"))).isEqualTo(Trouble.LOST);
    assertThat(Errors.trouble(error(0, "08S01", "The TCP/IP connection to the host x has failed.")))
        .isEqualTo(Trouble.UNREACHABLE);
    assertThat(Errors.trouble(new BatchUpdateException("timed out", "HY008", 0, new int[0])))
        .isEqualTo(Trouble.CUT_OFF);
    assertThat(Errors.trouble(error(0, null, "other"))).isEqualTo(Trouble.OTHER);
  }

  @Test
  @DisplayName(
      "a database of an old compatibility level has no OPENJSON, which is no missing table")
  void openJson() {
    SQLException error = error(208, "S0002", "Invalid object name 'OPENJSON'.");
    assertThat(Errors.trouble(error)).isEqualTo(Trouble.OTHER);
    assertThat(Errors.advice(error)).contains("compatibility level must be at least 130");
    assertThat(Errors.advice(error(208, "S0002", "Invalid object name 'outbox_message'.")))
        .isNull();
  }

  @Test
  @DisplayName("of a sequence that was set back are no conflict that another try would solve")
  void setBack() {
    SQLException error =
        error(
            2627,
            "23000",
            "Violation of PRIMARY KEY constraint 'outbox_message_pk'. Cannot insert duplicate key in object 'dbo.outbox_message'.");
    assertThat(Errors.trouble(error)).isEqualTo(Trouble.OTHER);
    assertThat(Errors.advice(error)).contains("dbcc checkident");
    assertThat(Errors.advice(error(2627, "23000", "'outbox_blocked_key_pk'"))).isNull();
  }

  @Test
  @DisplayName("of hints that no plan can follow say where to look")
  void noPlan() {
    assertThat(Errors.advice(error(8622, "S0001", "Query processor could not produce a plan")))
        .contains("is an index of the outbox missing");
  }

  @Test
  @DisplayName("of a database without room say what is full")
  void noRoom() {
    assertThat(Errors.advice(error(9002, "S0004", "The transaction log for database 'x' is full")))
        .contains("log_reuse_wait_desc");
    assertThat(Errors.advice(error(1105, "S0002", "Could not allocate space for object")))
        .contains("files are full");
  }

  @Test
  @DisplayName("of an index that somebody gave page locks are said before producers wait")
  void pageLocks() {
    Recorder driver =
        new Recorder(
            sql ->
                List.of(
                    Recorder.row("version", 1, "no_count", 0, "page_locks", "outbox_message_pk")),
            sql -> 1);
    assertThatThrownBy(() -> SqlServerOutboxStore.of(driver.dataSource()).verify())
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("alter index outbox_message_pk");
  }

  @Test
  @DisplayName("of a session with NOCOUNT on are said before every lease looks lost")
  void noCount() {
    Recorder driver =
        new Recorder(sql -> List.of(Recorder.row("version", 1, "no_count", 512)), sql -> 1);
    SqlServerOutboxStore store = SqlServerOutboxStore.of(driver.dataSource());
    assertThatThrownBy(store::verify)
        .isInstanceOf(OutboxException.class)
        .hasMessageStartingWith("the session has NOCOUNT on");
  }

  @Test
  @DisplayName("1934 of a session with other SET options is one sentence that says which")
  void setOptions() {
    SQLException failure =
        error(
            1934,
            "S0001",
            "INSERT failed because the following SET options have incorrect settings");
    Recorder driver =
        new Recorder(
            sql -> List.of(Recorder.row("version", 1, "no_count", 0, "page_locks", null)),
            sql -> {
              throw sneaky(failure);
            });
    SqlServerOutboxStore store = SqlServerOutboxStore.of(driver.dataSource());
    assertThatThrownBy(
            () ->
                store.append(
                    driver.connection(),
                    OutboxMessage.builder()
                        .aggregate("order", "1")
                        .eventType("Placed")
                        .payload("{}")
                        .build()))
        .isInstanceOf(OutboxException.class)
        .hasMessageStartingWith(
            "SQL Server refused a statement, the session needs QUOTED_IDENTIFIER, ANSI_NULLS");
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException sneaky(Throwable e) throws E {
    throw (E) e;
  }

  @Test
  @DisplayName("of a URL where nobody listens are one sentence, and no password")
  void nobodyListens() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    SQLServerDataSource dataSource = new SQLServerDataSource();
    dataSource.setURL("jdbc:sqlserver://127.0.0.1:" + port + ";loginTimeout=5;connectRetryCount=0");
    dataSource.setUser("sa");
    dataSource.setPassword(PASSWORD);
    SqlServerOutboxStore store = SqlServerOutboxStore.of(dataSource);
    assertThatThrownBy(() -> store.claim(new Claim.Request("r", 1, 1, Duration.ofSeconds(1))))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith("no connection to SQL Server: is it running, is the URL right")
        .hasMessageNotContaining(PASSWORD);
  }
}
