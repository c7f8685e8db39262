package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.outbox.spi.store.ArchiveStore;
import dev.outbox.spi.store.StatisticsStore;
import dev.outbox.spi.store.StatisticsStore.Statistics;
import dev.outbox.store.memory.MemoryOutboxStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Driver;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class UsageTest {

  static Set<String> commands() {
    return Main.commandLine().getSubcommands().keySet();
  }

  @ParameterizedTest
  @MethodSource("commands")
  @DisplayName("each command explains itself")
  void help(String command) {
    Cli cli = Cli.run(command, "--help");
    assertThat(cli.done()).startsWith("Usage: outbox " + command);
    assertThat(cli.err()).isEmpty();
  }

  @Command(name = "broken")
  static final class Broken implements Runnable {
    @Override
    public void run() {
      throw new NoClassDefFoundError("org/example/Driver?password=geheim");
    }
  }

  @Test
  @DisplayName("an error of the JVM, as of a jar that is missing, is no check that has failed")
  void error() {
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine(Broken.class).setErr(new PrintWriter(err, true));
    assertThat(line.execute("broken")).isEqualTo(Main.NOT_DONE);
    assertThat(err.toString())
        .startsWith("outbox: java.lang.NoClassDefFoundError: org/example/Driver?password=***")
        .contains("--verbose")
        .hasLineCount(2);
    err.getBuffer().setLength(0);
    assertThat(line.execute("broken", "--verbose")).isEqualTo(Main.NOT_DONE);
    assertThat(err.toString())
        .contains("at " + Broken.class.getName() + ".run")
        .doesNotContain("geheim");
  }

  @Test
  @DisplayName("what cannot be written to standard output is a failure")
  void fullOutput() {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    System.setOut(new PrintStream(full, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      assertThat(Main.run(Main.commandLine(), "migrate", "--print")).isEqualTo(Main.NOT_DONE);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    assertThat(said.toString(StandardCharsets.UTF_8))
        .startsWith("outbox: standard output is closed or full");
  }

  @Test
  @DisplayName("the version is the one that was built")
  void version() {
    assertThat(Cli.run("--version").out().strip()).matches("outbox \\d+\\.\\d+\\.\\d+\\S*");
  }

  @ParameterizedTest
  @ValueSource(strings = {"demo", "tck", "bench", "torture"})
  @DisplayName("a command that is only in a checkout says so")
  void ofACheckout(String command) {
    assertThat(Cli.run(command, "--url", "jdbc:postgresql://localhost/shop").refused().strip())
        .isEqualTo("outbox: %1$s is a command of a checkout: ./outbox %1$s".formatted(command));
  }

  @ParameterizedTest
  @DisplayName("bad usage: exit code 2, one sentence, and where to read on")
  @CsvSource(
      delimiter = '!',
      value = {
        "                              ! no command is given",
        "bogus                         ! Unmatched argument at index 0: 'bogus'",
        "status                        ! Missing required option: '--url=URL'",
        "migrate                       ! Missing required option: '--url=URL' (or --print)",
        "relay                         ! Missing required argument (specify one of these): (--config=FILE | --print-config)",
        "dead-letters                  ! say what to do: list, requeue or discard",
        "dead-letters --url=x          ! say what to do before the options: dead-letters list, requeue or discard",
        "messages                      ! say what to do: list, show or cancel",
        "archive                       ! say what to do: find, show or replay",
        "archive --url=x               ! say what to do before the options: archive find, show or replay",
        "migrate --print --store=x     ! Invalid value for option '--store': 'x' is not one of [mariadb, mongo, mysql, postgres, redis, sqlserver]",
        "grants --relay=r              ! Missing required option: '--producer=ROLE'",
        "grants --inbox --consumer=c   ! Missing required option: '--housekeeper=ROLE'",
        "grants --inbox --consumer=c --housekeeper=h --producer=p ! --producer is for an outbox: leave it out, or --inbox",
        "grants --inbox --relay=r --consumer=c --housekeeper=h ! --relay is for an outbox: leave it out, or --inbox",
        "migrate --inbox --archive=full --url=x ! --archive is for an outbox: leave it out, or --inbox",
        "grants --inbox --archive=full --consumer=c --housekeeper=h ! --archive is for an outbox: leave it out, or --inbox",
        "status --inbox --archive=full --url=x ! --archive is for an outbox: leave it out, or --inbox",
        "grants --producer=p --relay=r --consumer=c ! --consumer is for an inbox: add --inbox",
        "grants --producer=p --relay=r --housekeeper=h ! --housekeeper is for an inbox: add --inbox",
        "status --url=x --inbox --max-dead=1 ! --max-dead is for an outbox: leave it out, or --inbox",
        "archive find --url=x --after=42 ! Invalid value for option '--after': '42' is no position, it must look like 2026-11-22T10:00:00.123456Z/42",
        "archive find --url=x --outcome=lost ! Invalid value for option '--outcome': expected one of [DELIVERED, DISCARDED, EXPIRED] (case-insensitive) but was 'lost'",
        "status --url=x --max-age=-1s ! Invalid value for option '--max-age': '-1s' is no time, a time is needed, as 500ms, 30s, 5m, 1h or 7d",
        "archive find --url=x --from=2026-11-22 ! Invalid value for option '--from': '2026-11-22' is no time, one is needed as 2026-11-22T10:00:00Z",
        "messages list --url=x --id=42 ! Invalid value for option '--id': '42' is no id, a UUID is needed",
        "archive find --url=x --limit=0 ! Invalid value for option '--limit': '0' is no whole number from 1 on",
        "status --cap=-1 --url=x       ! Invalid value for option '--cap': '-1' is no whole number from 1 on",
        "keys --limit=x --url=x        ! Invalid value for option '--limit': 'x' is no whole number from 1 on",
        "dead-letters requeue --all --evnt-type=x --url=x ! Unknown option: '--evnt-type=x'",
        "dead-letters list x --url=x   ! Unmatched argument at index 2: 'x'",
        "messages cancel 1 --dry-rn --url=x ! Unknown option: '--dry-rn'",
        "messages lst --url=x          ! Unmatched arguments from index 1: 'lst', '--url=x'",
        "archive find --evnt-type=x --url=x ! Unknown option: '--evnt-type=x'",
        "dead-letters requeue --url=x  ! Missing required argument (specify one of these): (SEQ... | --all)",
      })
  void badUsage(String arguments, String sentence) {
    Cli cli = Cli.run(arguments == null ? new String[0] : arguments.split(" "));
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).startsWith("outbox: " + sentence + System.lineSeparator());
    assertThat(cli.err().lines().toList().get(1))
        .matches("(Try: outbox.* --help|Did you mean.*|Possible solutions.*)");
    assertThat(cli.out()).isEmpty();
  }

  @ParameterizedTest
  @DisplayName("a URL that nothing answers at is one sentence without its password")
  @CsvSource({
    "jdbc:postgresql://127.0.0.1:1/x?user=a&password=geheim",
    "jdbc:mysql://a:geheim@127.0.0.1:1/x",
    "jdbc:mariadb://127.0.0.1:1/x?user=a&password=geheim",
    "jdbc:sqlserver://127.0.0.1:1;databaseName=x;user=a;password=geheim",
    "mongodb://a:geheim@127.0.0.1:1/x?serverSelectionTimeoutMS=300",
  })
  void unreachable(String url) {
    assertThat(Cli.run("status", "--url=" + url).refused())
        .startsWith("outbox: cannot connect to " + url.replace("geheim", "***") + ": ")
        .doesNotContain("geheim");
  }

  @Test
  @DisplayName("a database that takes connections and never answers is given up")
  void silent() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "jdbc:postgresql://127.0.0.1:%d/x".formatted(server.getLocalPort());
      Cli cli =
          assertTimeoutPreemptively(Duration.ofMinutes(1), () -> Cli.run("status", "--url=" + url));
      assertThat(cli.err()).startsWith("outbox: cannot connect to " + url).hasLineCount(1);
    }
  }

  @ParameterizedTest
  @DisplayName("a URL that cannot be read is one sentence without its password")
  @CsvSource({
    "jdbc:postgresql://h:p:o/x?password=geheim, it looks like jdbc:postgresql://host:5432/name",
    "jdbc:mysql:x?password=geheim, it looks like jdbc:mysql://host:3306/name",
    "jdbc:mariadb:x?password=geheim, jdbc:mariadb:x?password=***",
    "jdbc:sqlserver:x;password=geheim, it looks like jdbc:sqlserver://host:1433;databaseName=name",
    "mongodb://a:ge/heim@h/x, it looks like mongodb://host:27017/name?replicaSet=rs0",
    "mongodb://a:geheim@h:x/y, mongodb://a:***@h:x/y cannot be used: ",
    "mongodb://h, the URL mongodb://h names no database",
    "redis://a:geheim@h, no schema is given",
  })
  void unreadable(String url, String sentence) {
    assertThat(Cli.run("status", "--url=" + url).refused())
        .contains(sentence)
        .doesNotContain("geheim");
  }

  @Test
  @DisplayName("a limit may be as high as an int")
  void highestLimit() {
    Listing.AtLeastOne limit = new Listing.AtLeastOne();
    assertThat(limit.convert("2147483647")).isEqualTo(Integer.MAX_VALUE);
    assertThatThrownBy(() -> limit.convert("2147483648"))
        .hasMessage("'2147483648' is no whole number from 1 on");
  }

  @Test
  @DisplayName("a driver that is missing is named")
  void noDriver() throws Exception {
    Driver driver = DriverManager.getDriver("jdbc:mariadb://h/d");
    DriverManager.deregisterDriver(driver);
    try {
      assertThat(Cli.run("status", "--url=jdbc:mariadb://h/d").err())
          .isEqualToIgnoringNewLines(
              "outbox: there is no driver for MariaDB: put the jar with org.mariadb.jdbc.Driver on the class path");
    } finally {
      DriverManager.registerDriver(driver);
    }
  }

  @Test
  @DisplayName("--verbose shows the stack trace, without the password too")
  void verbose() {
    String command = "status --verbose --url=jdbc:postgresql://127.0.0.1:1/x --user=a";
    Cli cli = Cli.run((command + " --password=geheim").split(" "));
    assertThat(cli.code()).isEqualTo(2);
    assertThat(cli.err()).contains("\tat dev.outbox.cli.").doesNotContain("geheim");
  }

  @Test
  @DisplayName("a database that has no store is refused by name, without its password")
  void otherDatabase() {
    assertThat(Cli.run("migrate", "--url=jdbc:oracle://root:geheim@db/shop").refused())
        .contains(
            "jdbc:oracle://root:***@db/shop",
            "those that were found take mariadb jdbc:mariadb:; mongo mongodb:, mongodb+srv:; mysql jdbc:mysql:; postgres jdbc:postgresql:; redis redis:, rediss:; sqlserver jdbc:sqlserver:");
  }

  @ParameterizedTest
  @DisplayName(
      "migrate --print prints the statements with the names asked for, and connects nowhere")
  @CsvSource(
      delimiter = '|',
      value = {
        "                                      | autovacuum_vacuum_scale_factor",
        "--store=postgres                      | autovacuum_vacuum_scale_factor",
        "--store=mysql                         | collate utf8mb4_0900_bin",
        "--store=mariadb                       | collate utf8mb4_nopad_bin",
        "--store=sqlserver                     | identity(1, 1)",
        "--url=jdbc:mysql://127.0.0.1:1/x      | collate utf8mb4_0900_bin",
      })
  void print(String store, String part) {
    List<String> more = store == null ? List.of() : List.of(store);
    Cli cli = Cli.run(more, "migrate", "--print", "--schema=shop", "--prefix=my_");
    assertThat(cli.code()).isZero();
    assertThat(cli.out()).contains("shop.my_message (", part).doesNotContain("${");
    assertThat(cli.err()).isEmpty();
  }

  @Test
  @DisplayName(
      "MongoDB's collections are printed too; the URL names the database, and a schema is refused")
  void printMongo() {
    assertThat(Cli.run("migrate", "--print", "--store=mongo", "--prefix=my_").done())
        .contains("createIndexes: \"my_message\"")
        .doesNotContain("${");

    assertThat(Cli.run("migrate", "--print", "--store=mongo", "--schema=shop").refused())
        .contains("a schema is given, shop", "mongodb://host:27017/shop?replicaSet=rs0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--archive=none"})
  @DisplayName("a replay needs to be told of the archive, before it connects")
  void replayWithoutArchive(String archive) {
    assertThat(Cli.run(("archive replay --url=x --yes " + archive).strip().split(" ")).refused())
        .contains("noted in the audit", "--archive=full");
  }

  @Test
  @DisplayName("what a store does not do is said in words; a time that ends before it begins, too")
  void cannot() {
    StatisticsStore counted = cap -> new MemoryOutboxStore().statistics(cap);
    assertThatThrownBy(() -> Stores.as(ArchiveStore.class, counted))
        .hasMessageStartingWith(
            "this needs a store that keeps an archive, as ArchiveStore does, and ");
    assertThatThrownBy(
            () -> run("archive find --url=x --from=2026-01-02T00:00:00Z --to=2026-01-01T00:00:00Z"))
        .isInstanceOf(Failure.class)
        .hasMessage(
            "there is no time from 2026-01-02T00:00:00Z to 2026-01-01T00:00:00Z: give an earlier --from, or a later --to");
  }

  /** Runs it against a store that is there. */
  private static int run(String command, Object store, Writer out) {
    List<CommandLine> parsed = Main.commandLine().parseArgs(command.split(" ")).asCommandLineList();
    StoreCommand found = parsed.get(parsed.size() - 1).getCommand();
    return found.run(store, new PrintWriter(out, true));
  }

  private static int run(String command) {
    return run(command, new MemoryOutboxStore(), new StringWriter());
  }

  @Test
  @DisplayName("a timeout longer than nanoseconds can be counted waits as long as it takes")
  void longTimeout() {
    Iterator<Statistics> found =
        List.of(
                new Statistics(10, 1, 0, 0, 0, 0, 0, Duration.ofSeconds(1), null, null),
                new Statistics(10, 0, 0, 0, 0, 0, 0, null, null, null))
            .iterator();
    StatisticsStore store = cap -> found.next();
    StringWriter out = new StringWriter();
    assertThat(run("drain --timeout=999999999d --url=x", store, out)).isZero();
    assertThat(out.toString()).startsWith("Nothing is due.");
  }

  @Test
  @DisplayName("drain says how long something has been due that counts as delayed until it is met")
  void requeued() {
    StatisticsStore store =
        cap -> new Statistics(cap, 0, 1, 0, 0, 0, 0, Duration.ofSeconds(17), null, 1);
    StringWriter out = new StringWriter();
    assertThat(run("drain --timeout=1ms --url=x", store, out)).isEqualTo(Main.CHECK_FAILED);
    assertThat(out.toString())
        .startsWith("The time is over, and something is due, the oldest for 17.0 s.");
  }

  @Test
  @DisplayName("a store that keeps no archive refuses one")
  void refusesArchive() {
    assertThat(
            Cli.run("migrate", "--print", "--archive=metadata", "--store=redis", "--schema=shop")
                .refused())
        .startsWith("outbox: archive is METADATA, and the store of ")
        .contains("keeps none: leave it out");
  }

  @Test
  @DisplayName("of Redis the one key that migrate makes is printed; a schema is its name")
  void printRedis() {
    assertThat(Cli.run("migrate", "--print", "--store=redis", "--schema=shop").done())
        .isEqualToIgnoringNewLines("SET {shop}:outbox:schema 1 NX");
    assertThat(Cli.run("migrate", "--print", "--inbox", "--store=redis", "--schema=shop").out())
        .isEqualToIgnoringNewLines("SET {shop}:inbox:schema 1 NX");

    assertThat(
            Cli.run("migrate", "--print", "--store=redis", "--schema=shop", "--prefix=my_")
                .refused())
        .contains("a prefix is given, my_, and on Redis there is none");
    assertThat(Cli.run("migrate", "--print", "--store=redis", "--schema={shop}").refused())
        .contains("the name '{shop}' is not plain");
  }

  @Test
  @DisplayName("an inbox's tables are printed, too, with the names asked for")
  void printInbox() {
    for (String store : List.of("postgres", "mysql", "mariadb")) {
      assertThat(Cli.run("migrate", "--print", "--inbox", "--store=" + store).done())
          .containsPattern("create table .*inbox_message \\(")
          .doesNotContain("${");
      assertThat(Cli.run("migrate", "--print", "--inbox", "--prefix=in_", "--store=" + store).out())
          .containsPattern("create table .*in_message \\(");
    }
    assertThat(Cli.run("migrate", "--print", "--inbox", "--store=mongo").out())
        .contains("createIndexes: \"inbox_message\"");
    assertThat(Cli.run("migrate", "--print", "--inbox", "--prefix=Bad-").refused())
        .startsWith("outbox: prefix 'Bad-' is not a plain name");
  }

  @Test
  @DisplayName(
      "relay refuses a file that is missing, or has what cannot be; doctor does, before it asks anybody")
  void relayFile(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("relay.properties");
    assertThat(Cli.run("relay", "--config", file.toString()).refused())
        .contains("there is no file " + file, "--print-config");

    Files.writeString(file, "relay.worker=3\n");
    String unknown = Cli.run("relay", "--config", file.toString()).refused();
    assertThat(unknown)
        .isEqualToIgnoringNewLines(
            "outbox: there is no property relay.worker: did you mean relay.workers?");

    Files.writeString(file, "\ufeffrelay.worker=3\n"); // as editors on Windows write it
    assertThat(Cli.run("relay", "--config", file.toString()).err()).isEqualTo(unknown);

    Files.writeString(file, "relay.workers=3\nkafka.acks=all\nrelay.workers = 4\n");
    assertThat(Cli.run("relay", "--config", file.toString()).refused())
        .isEqualToIgnoringNewLines(
            "outbox: the property relay.workers is given twice: take one away");

    String least =
        "store.url=jdbc:postgresql://127.0.0.1:1/x\nkafka.bootstrap.servers=127.0.0.1:1\n";
    for (String command : List.of("relay", "doctor")) {
      Files.writeString(file, least + "kafka.acks=1\n");
      assertThat(Cli.run(command, "--config", file.toString()).err())
          .isEqualToIgnoringNewLines(
              "outbox: acks is 1, it must be all, less acknowledges what can still be lost: leave it out");
      Files.writeString(file, least + "relay.workers=two\n");
      assertThat(Cli.run(command, "--config", file.toString()).err())
          .isEqualToIgnoringNewLines(
              "outbox: the property relay.workers is two, a whole number is needed");
    }

    Files.writeString(file, "store.user=b\u00fcro\n", StandardCharsets.ISO_8859_1);
    assertThat(Cli.run("relay", "--config", file.toString()).err())
        .isEqualToIgnoringNewLines("outbox: %s cannot be read: it is not in UTF-8".formatted(file));
  }

  @Test
  @DisplayName("relay --print-config prints the example")
  void printConfig() {
    assertThat(Cli.run("relay", "--print-config").done()).isEqualTo(RelayCommand.example());
  }
}
