package dev.outbox.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class PeersCommandTest {

  @ParameterizedTest
  @ValueSource(strings = {"--runs=2", "--scale=0.1"})
  void faultsHaveNoSize(String option) {
    StringWriter err = new StringWriter();
    int code =
        new CommandLine(new PeersCommand())
            .setErr(new PrintWriter(err, true))
            .execute("--faults", option);
    assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(err.toString()).contains("--faults has no --runs and no --scale");
  }
}
