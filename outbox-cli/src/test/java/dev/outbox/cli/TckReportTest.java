package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.tck.Rule;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class TckReportTest {

  /** Not found by the build: it is run by the tests below. */
  static class Mixed {
    @Nested
    @DisplayName("Claim")
    class Claiming {
      @Test
      @Rule("C10")
      @DisplayName("the tenth")
      void tenth() {}

      @Test
      @Rule("C2")
      @DisplayName("the second")
      void second() {
        fail("two lines:\n  password=geheim");
      }

      @Nested
      @DisplayName("Under load")
      class Load {
        @Test
        @Rule({"A1", "C2"})
        @DisplayName("works for two rules")
        void two() {}
      }
    }

    @Test
    @Rule("O5")
    @DisplayName("not testable")
    void untestable() {
      abort("skipped: it cannot be seen");
    }

    @Test
    @Disabled("later")
    @DisplayName("without a rule")
    void disabled() {}
  }

  static class Good {
    @Test
    @Rule("A1")
    @DisplayName("works")
    void works() {}
  }

  static class Broken {
    @BeforeAll
    static void connect() {
      throw new IllegalStateException("no database");
    }

    @Test
    @Rule("A1")
    void never() {}
  }

  static class Skipped {
    @Test
    @Rule("A1")
    @DisplayName("needs a server")
    void skipped() {
      abort("no server");
    }
  }

  private static String run(Class<?> tck, int code) {
    StringWriter out = new StringWriter();
    assertThat(TckCommand.run(tck, new PrintWriter(out))).isEqualTo(code);
    return out.toString().replace(System.lineSeparator(), "\n");
  }

  @Test
  @DisplayName("rules come in the order of the contract, with what failed, was skipped and why")
  void report() {
    assertThat(run(Mixed.class, 1))
        .isEqualTo(
            """

            -    skipped  without a rule
                            later

            A1   passed   Under load: works for two rules

            C2   FAILED   Claim: the second
                            two lines:
                              password=***
            C2   passed   Under load: works for two rules

            C10  passed   Claim: the tenth

            O5   skipped  not testable
                            it cannot be seen

            2 passed, 1 failed, 2 skipped; 4 rules.
            """);
  }

  @Test
  @DisplayName("exit code 0 when all passed")
  void good() {
    assertThat(run(Good.class, 0)).endsWith("1 passed, 0 failed, 0 skipped; 1 rules.\n");
  }

  @Test
  @DisplayName("a suite that cannot start has failed")
  void broken() {
    assertThat(run(Broken.class, 1)).contains("FAILED", "no database", "1 failed");
  }

  @Test
  @DisplayName("a suite in which nothing passed has proven nothing")
  void skipped() {
    assertThat(run(Skipped.class, 1))
        .contains("skipped  needs a server", "Nothing passed, so nothing is proven.");
  }
}
