package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {

  @ParameterizedTest
  @ValueSource(strings = {"demo", "tck", "bench", "migrate", "relay", "status", "dead-letters"})
  @DisplayName("each command explains itself")
  void help(String command) {
    Cli cli = Cli.run(command, "--help");
    assertThat(cli.code()).isZero();
    assertThat(cli.out()).startsWith("Usage: outbox " + command);
    assertThat(cli.err()).isEmpty();
  }

  @Test
  @DisplayName("the version is the one that was built")
  void version() {
    assertThat(Cli.run("--version").out().strip()).matches("outbox \\d+\\.\\d+\\.\\d+\\S*");
  }

  @Test
  @DisplayName("the help shows what users need, not what the demo needs")
  void hidden() {
    assertThat(Cli.run("--help").out()).contains("migrate").doesNotContain("demo-relay");
  }

  @ParameterizedTest
  @DisplayName("bad usage: exit code 2, one sentence, and where to read on")
  @CsvSource(
      delimiter = '!',
      value = {
        "                              ! no command is given",
        "bogus                         ! Unmatched argument at index 0: 'bogus'",
        "status                        ! Missing required option: '--url=JDBC-URL'",
        "migrate                       ! Missing required option: '--url=JDBC-URL' (or --print)",
        "relay                         ! Missing required argument (specify one of these): (--config=FILE | --print-config)",
        "dead-letters                  ! say what to do: list, requeue or discard",
        "dead-letters requeue --url=x  ! Missing required argument (specify one of these): (SEQ... | --all)",
        "demo --threads 0              ! --threads is 0, allowed is from 1 to 64",
        "demo --threads 65             ! --threads is 65, allowed is from 1 to 64",
        "demo --transactions 0         ! --transactions is 0, allowed is from 1 to 5000000",
        "bench --runs 0                ! runs is 0, allowed is from 1 to 100",
        "demo --orders x               ! Invalid value for option '--orders': 'x' is not an int",
      })
  void badUsage(String arguments, String sentence) {
    Cli cli = Cli.run(arguments == null ? new String[0] : arguments.split(" "));
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).startsWith("outbox: " + sentence + System.lineSeparator());
    assertThat(cli.err().lines().toList().get(1)).matches("(Try: outbox.* --help|Did you mean.*)");
    assertThat(cli.out()).isEmpty();
  }

  @Test
  @DisplayName("a URL that nothing answers at is one sentence without its password")
  void unreachable() {
    Cli cli = Cli.run("status", "--url=jdbc:postgresql://127.0.0.1:1/x?user=a&password=geheim");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err())
        .startsWith(
            "outbox: cannot connect to jdbc:postgresql://127.0.0.1:1/x?user=a&password=***: ")
        .doesNotContain("geheim")
        .hasLineCount(1);
  }

  @Test
  @DisplayName("--verbose shows the stack trace, without the password too")
  void verbose() {
    Cli cli =
        Cli.run(
            "status",
            "--verbose",
            "--url=jdbc:postgresql://127.0.0.1:1/x",
            "--user=a",
            "--password=geheim");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).contains("\tat dev.outbox.cli.").doesNotContain("geheim");
  }

  @Test
  @DisplayName("a database that has no store is refused by name, without its password")
  void otherDatabase() {
    Cli cli = Cli.run("migrate", "--url=jdbc:mysql://root:geheim@db/shop");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err())
        .contains("jdbc:mysql://root:***@db/shop", "begins with jdbc:postgresql:")
        .hasLineCount(1);
  }

  @Test
  @DisplayName(
      "migrate --print prints the statements with the names asked for, and connects nowhere")
  void print() {
    Cli cli = Cli.run("migrate", "--print", "--schema=shop", "--prefix=my_");
    assertThat(cli.code()).isZero();
    assertThat(cli.out()).contains("create table shop.my_message (").doesNotContain("${");
    assertThat(cli.err()).isEmpty();
  }

  @Test
  @DisplayName("a prefix that is not a plain name is refused")
  void badPrefix() {
    Cli cli = Cli.run("migrate", "--print", "--prefix=Bad-");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).startsWith("outbox: prefix 'Bad-' is not a plain name").hasLineCount(1);
  }

  @Test
  @DisplayName("relay refuses a file that is missing or names what does not exist")
  void relayFile(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("relay.properties");
    Cli missing = Cli.run("relay", "--config", file.toString());
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.err()).contains("there is no file " + file, "--print-config");

    Files.writeString(file, "relay.worker=3\n");
    Cli unknown = Cli.run("relay", "--config", file.toString());
    assertThat(unknown.code()).isEqualTo(2);
    assertThat(unknown.err())
        .isEqualToIgnoringNewLines(
            "outbox: there is no property relay.worker: did you mean relay.workers?");
  }

  @Test
  @DisplayName("relay --print-config prints the example")
  void printConfig() {
    Cli cli = Cli.run("relay", "--print-config");
    assertThat(cli.code()).isZero();
    assertThat(cli.out()).isEqualTo(RelayCommand.example());
  }
}
