package dev.outbox.store.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.jdbc.internal.Server.Trouble;
import java.io.EOFException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What an error means")
class ErrorNumbersTest {

  @ParameterizedTest
  @CsvSource({
    "1213, 40001, CONFLICT",
    "1205, HY000, CONFLICT",
    "3572, HY000, CONFLICT",
    "1020, HY000, CONFLICT",
    "1146, 42S02, MISSING_SCHEMA",
    "1054, 42S22, MISSING_SCHEMA",
    "1792, 25006, READ_ONLY",
    "1290, HY000, READ_ONLY",
    "1045, 28000, REFUSED",
    "1049, 42000, REFUSED",
    "1044, 42000, FORBIDDEN",
    "1142, 42000, FORBIDDEN",
    "1143, 42000, FORBIDDEN",
    "1227, 42000, FORBIDDEN",
    "1040, 08004, UNREACHABLE",
    "1203, 42000, UNREACHABLE",
    "1021, HY000, EXHAUSTED",
    "1114, HY000, EXHAUSTED",
    "1053, 08S01, LOST",
    "1927, 70100, LOST",
    "1317, 70100, CUT_OFF",
    "3024, HY000, CUT_OFF",
    "4031, HY000, CUT_OFF",
    "0, 08S01, LOST",
    "0, 08003, LOST",
    "0, 08001, UNREACHABLE",
    "1062, 23000, OTHER",
    "3819, HY000, OTHER",
    "0, S1000, OTHER",
    "0, , OTHER",
  })
  void numbersAndStates(int number, String state, Trouble trouble) {
    assertThat(Errors.trouble(new SQLException("x", state, number))).isEqualTo(trouble);
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
    assertThat(Errors.trouble(new SQLException("Connection is read-only.", "S1009")))
        .isEqualTo(Trouble.READ_ONLY);
  }
}
