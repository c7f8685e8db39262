package dev.outbox.store.sqlserver;

import static java.util.ResourceBundle.Control.getNoFallbackControl;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.sqlserver.jdbc.SQLServerDataSource;
import com.microsoft.sqlserver.jdbc.SQLServerResource;
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
import java.util.Locale;
import java.util.ResourceBundle;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Errors")
class ErrorsTest {
  private static final String PASSWORD = "s3cret-Passw0rd";

  private static final ResourceBundle.Control ROOT_OR_ITSELF =
      getNoFallbackControl(ResourceBundle.Control.FORMAT_CLASS);

  private static SQLException error(int number, String state, String message) {
    return new SQLException(message, state, number);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "CONFLICT, 1205 3960 3961 1204 1222 601 3958 3966 701 8645 2601 2627",
    "MISSING_SCHEMA, 207 208 308 2760",
    "READ_ONLY, 3906",
    "CUT_OFF, 845 8628",
    "EXHAUSTED, 9002 1105 1101",
    "FORBIDDEN, 229 230 262",
    "FAILED_BEFORE, 3930 3998 3971",
    "REFUSED, 916 18456 18452 18486 18487 18488",
    "UNREACHABLE, 3908 922 976 978 942 952 4221 18401 983 17142 6005 4060 615 926",
    "UNREACHABLE, 10928 10929 40197 40020 40143 40166 40540 40501 40613 49918 49919",
    "UNREACHABLE, 49920",
    "LOST, 596",
    "OTHER, 102 156 319 547 650 1934 8622 8115"
  })
  @DisplayName("have numbers that say what they mean")
  void numbers(Trouble trouble, String numbers) {
    for (String number : numbers.split(" ")) {
      assertThat(Errors.trouble(error(Integer.parseInt(number), "S0001", "x")))
          .as(number)
          .isEqualTo(trouble);
    }
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

  @ParameterizedTest
  @ValueSource(strings = {"", "de", "es", "fr", "it", "ja", "ko", "pt-BR", "ru", "zh-CN", "zh-TW"})
  @DisplayName("of the driver are in the JVM's language")
  void languages(String language) {
    ResourceBundle texts =
        ResourceBundle.getBundle(
            SQLServerResource.class.getName(), Locale.forLanguageTag(language), ROOT_OR_ITSELF);
    assertThat(Errors.trouble(error(0, "08S01", texts.getString("R_tcpipConnectionFailed"))))
        .isEqualTo(Trouble.UNREACHABLE);
    assertThat(Errors.trouble(error(0, "08S01", texts.getString("R_connectionIsClosed"))))
        .isEqualTo(Trouble.LOST);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "102 | Incorrect syntax near '$'.",
        "156 | Incorrect syntax near the keyword 'with'.",
        "319 | Incorrect syntax near the keyword 'with'. If this statement is a common table expression, …"
      })
  @DisplayName("of a database of an old compatibility level, which has no OPENJSON, are of syntax")
  void openJson(int number, String message) {
    assertThat(Errors.advice(error(number, "S0001", message)))
        .contains("compatibility level must be at least 130");
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
    assertThat(Errors.advice(error(1101, "S0012", "Could not allocate a new page for database")))
        .contains("files are full");
  }

  @Test
  @DisplayName("of an index that somebody gave page locks are said before producers wait")
  void pageLocks() {
    Recorder driver =
        new Recorder(
            sql -> List.of(Recorder.row("version no_count page_locks", 1, 0, "outbox_message_pk")),
            sql -> 1);
    assertThatThrownBy(() -> SqlServerOutboxStore.of(driver.dataSource()).verify())
        .isInstanceOf(OutboxException.class)
        .hasMessageContaining("alter index outbox_message_pk");
  }

  @Test
  @DisplayName("of a session with NOCOUNT on are said before every lease looks lost")
  void noCount() {
    Recorder driver =
        new Recorder(sql -> List.of(Recorder.row("version no_count", 1, 512)), sql -> 1);
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
            sql -> List.of(Recorder.row("version no_count page_locks", 1, 0, null)),
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

  @Test
  @DisplayName("of a server that cannot be trusted are no lost connection")
  void untrusted() throws Exception {
    SQLServerDataSource dataSource = new SQLServerDataSource();
    try (ServerSocket socket =
        SSLServerSocketFactory.getDefault()
            .createServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread server = new Thread(() -> shakeHands(socket));
      server.start();
      dataSource.setURL(
          "jdbc:sqlserver://127.0.0.1:%s;encrypt=strict;loginTimeout=5;connectRetryCount=0"
              .formatted(socket.getLocalPort()));
      dataSource.setUser("sa");
      dataSource.setPassword(PASSWORD);
      assertThatThrownBy(() -> SqlServerOutboxStore.of(dataSource).verify())
          .isInstanceOf(TransientOutboxException.class)
          .hasMessageStartingWith("no connection to SQL Server");
      server.join();
    }
  }

  /** Has no certificate to show. */
  @SuppressWarnings("EmptyCatch")
  private static void shakeHands(ServerSocket socket) {
    try (SSLSocket client = (SSLSocket) socket.accept()) {
      client.startHandshake();
    } catch (IOException ignored) {
      // The client is told.
    }
  }
}
