package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.jdbc.internal.Server.Trouble;
import java.io.EOFException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What an error means")
class ErrorNumbersTest {

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "CONFLICT, 1213/40001 1205/HY000 3572/HY000 1020/HY000 3101/40000",
    "MISSING_SCHEMA, 1146/42S02 1054/42S22",
    "READ_ONLY, 1792/25006 1290/HY000",
    "REFUSED, 1045/28000 1049/42000",
    "FORBIDDEN, 1044/42000 1142/42000 1143/42000 1227/42000",
    "UNREACHABLE, 1040/08004 1203/42000 0/08001",
    "EXHAUSTED, 1021/HY000 1114/HY000",
    "LOST, 1053/08S01 1927/70100 0/08S01 0/08003",
    "CUT_OFF, 1317/70100 3024/HY000 4031/HY000",
    "OTHER, 1062/23000 3819/HY000 0/S1000 0/"
  })
  void numbersAndStates(Trouble trouble, String errors) {
    for (String error : errors.split(" ")) {
      String[] numberAndState = error.split("/");
      String state = numberAndState.length == 1 ? null : numberAndState[1];
      assertThat(Errors.trouble(new SQLException("x", state, Integer.parseInt(numberAndState[0]))))
          .as(error)
          .isEqualTo(trouble);
    }
  }

  @Test
  @DisplayName("is found in the words of the operating system, where a file could not grow")
  void fullDisk() {
    String mysql =
        "Error writing file '/var/lib/mysql/MLfd=70' (OS errno 28 - No space left on device)";
    String mariadb = "Error writing file './bin' (Errcode: 28 \"No space left on device\")";
    assertThat(Errors.trouble(new SQLException(mysql, "HY000", 3))).isEqualTo(Trouble.EXHAUSTED);
    assertThat(Errors.trouble(new SQLException(mariadb, "HY000", 1026)))
        .isEqualTo(Trouble.EXHAUSTED);
  }

  @Test
  @DisplayName("is found in its causes, where it has no number")
  void causes() {
    assertThat(Errors.trouble(new SQLTransientConnectionException("pool")))
        .isEqualTo(Trouble.UNREACHABLE);
    assertThat(Errors.trouble(new SQLException("x", new ConnectException())))
        .isEqualTo(Trouble.UNREACHABLE);
    assertThat(Errors.trouble(new SQLException("x", "08S01", new UnknownHostException())))
        .isEqualTo(Trouble.UNREACHABLE);
    assertThat(Errors.trouble(new SQLException("x", "S1000", new EOFException())))
        .isEqualTo(Trouble.LOST);
    assertThat(
            Errors.trouble(
                new SQLException("No operations allowed after statement closed.", "S1009")))
        .as("whose connection another thread has found broken")
        .isEqualTo(Trouble.LOST);
    assertThat(Errors.trouble(new SQLTimeoutException("Statement cancelled due to timeout")))
        .isEqualTo(Trouble.CUT_OFF);
    assertThat(Errors.trouble(new SQLException("Connection is read-only.", "S1009")))
        .isEqualTo(Trouble.READ_ONLY);
  }
}
