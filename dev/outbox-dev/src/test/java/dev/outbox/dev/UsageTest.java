package dev.outbox.dev;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {

  @ParameterizedTest
  @ValueSource(strings = {"demo", "tck", "bench", "torture", "relay", "dead-letters"})
  @DisplayName("each command explains itself, those of operators too")
  void help(String command) {
    Cli cli = Cli.run(command, "--help");
    assertThat(cli.code()).isZero();
    assertThat(cli.out()).startsWith("Usage: outbox " + command);
    assertThat(cli.err()).isEmpty();
  }

  @Test
  @DisplayName("the help shows what users need, not what the demo needs")
  void hidden() {
    assertThat(Cli.run("--help").out()).contains("migrate", "torture").doesNotContain("demo-");
  }

  @ParameterizedTest
  @DisplayName("bad usage: exit code 2, one sentence, and where to read on")
  @CsvSource(
      delimiter = '!',
      value = {
        "demo --store oracle           ! Invalid value for option '--store': expected one of [POSTGRES, MYSQL, MARIADB, SQLSERVER, MONGO, REDIS] (case-insensitive) but was 'oracle'",
        "demo --store redis            ! this command does not work on redis: give one of postgres, mysql, mariadb, sqlserver, mongo",
        "bench --url=redis://h         ! this command does not work on redis: give one of postgres, mysql, mariadb",
        "bench --store mongo           ! this command does not work on mongo: give one of postgres, mysql, mariadb",
        "demo --store mysql --url=x    ! --store says what to start, --url names your own: give one of them",
        "demo --broker pulsar          ! Invalid value for option '--broker': expected one of [KAFKA, RABBITMQ] (case-insensitive) but was 'pulsar'",
        "demo --broker kafka --bootstrap-servers=x ! --broker says what to start, --bootstrap-servers names your own Kafka: give one of them",
        "bench drian                   ! Unmatched argument at index 1: 'drian'",
        "bench --runs 0                ! runs is 0, allowed is from 1 to 100",
        "torture --time soon           ! Invalid value for option '--time': 'soon' is no time, a time is needed, as 500ms, 30s, 5m, 1h or 7d",
        "torture --time 0s             ! --time is 0, at least 1ms is needed",
        "torture --relays 21           ! --relays is 21, allowed are 1 to 20",
        "torture --faults-per-minute 0 ! --faults-per-minute is 0.0, allowed is more than 0, up to 1000",
        "torture --store mongo         ! --store is mongo, but it takes a database that can be started and killed here: one of postgres, mysql, mariadb, redis",
        "torture --broker nats         ! Invalid value for option '--broker': expected one of [KAFKA, RABBITMQ] (case-insensitive) but was 'nats'",
        "bench --runs x                ! Invalid value for option '--runs': 'x' is not an int",
      })
  void badUsage(String arguments, String sentence) {
    Cli cli = Cli.run(arguments.split(" "));
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).startsWith("outbox: " + sentence + System.lineSeparator());
    assertThat(cli.err().lines().toList().get(1)).matches("(Try: outbox.* --help|Did you mean.*)");
    assertThat(cli.out()).isEmpty();
  }

  @Test
  @DisplayName("a database that cannot be started here is asked for by URL")
  void notEmbedded() {
    Cli cli = Cli.run("demo", "--store=sqlserver");
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).contains("SQL Server", "--url jdbc:sqlserver://host").hasLineCount(1);
  }

  @Test
  @DisplayName("a broker that is not on this machine is to be installed")
  void noBroker() {
    String property = "outbox.embedded.rabbitmq";
    System.setProperty(property, "/nowhere");
    try {
      Cli cli = Cli.run("demo", "--broker=rabbitmq", "--url=jdbc:postgresql://127.0.0.1:1/x");
      assertThat(cli.code()).isEqualTo(2);
      assertThat(cli.err())
          .startsWith(
              "outbox: there is no RabbitMQ to be started here; install the package rabbitmq-server")
          .contains("/nowhere")
          .hasLineCount(1);
    } finally {
      System.clearProperty(property);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://127.0.0.1:1/x?password=Xq7z9pw",
        "jdbc:mysql://root:Xq7z9pw@127.0.0.1:1/x",
        "mongodb://a:Xq7z9pw@127.0.0.1:1/x?serverSelectionTimeoutMS=200"
      })
  @DisplayName("a password in a URL is not printed")
  void secrets(String url) {
    assertSilent("tck --verbose", "redis://a:Xq7z9pw@127.0.0.1:1");
    assertSilent("tck --verbose", url);
    if (url.startsWith("jdbc:")) {
      assertSilent("bench --verbose", url);
    }
  }

  @Test
  @DisplayName("nor by the demo, which has started a broker when it tries the database")
  void secretsOfDemo() {
    assertSilent("demo", "jdbc:mysql://root:Xq7z9pw@127.0.0.1:1/x");
  }

  private static void assertSilent(String command, String url) {
    Cli cli = Cli.run((command + " --url=" + url).split(" "));
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.out() + cli.err()).contains("127.0.0.1:1").doesNotContain("Xq7z9");
  }
}
