package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The commands that look at one database, on a real one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DatabaseCommandsTest {

  /** Options that lead to the test's outbox. */
  abstract List<String> options();

  /** Makes a place for it. */
  abstract void create() throws Exception;

  abstract void drop() throws Exception;

  @BeforeEach
  final void before() throws Exception {
    create();
  }

  @AfterEach
  final void after() throws Exception {
    drop();
  }

  /** Returns the sequence. */
  abstract long insertDead(String error) throws Exception;

  /** Of all messages. */
  abstract List<String> statuses() throws Exception;

  private Cli cli(String... arguments) {
    return Cli.run(
        Stream.concat(Arrays.stream(arguments), options().stream()).toArray(String[]::new));
  }

  @Test
  @DisplayName("status before migrate says what to do; migrate twice is fine; status then counts")
  void migrateAndStatus() throws Exception {
    Cli before = cli("status");
    assertThat(before.code()).isEqualTo(2);
    assertThat(before.err()).contains("./outbox migrate").hasLineCount(1);

    for (int i = 0; i < 2; i++) {
      Cli migrate = cli("migrate");
      assertThat(migrate.code()).as(migrate.err()).isZero();
      assertThat(migrate.out()).contains("up to date");
    }
    long unused = insertDead("x");
    Cli status = cli("status");
    assertThat(status.code()).isZero();
    assertThat(status.out().lines().map(line -> line.replaceAll(" +", " ")))
        .contains("schemaVersion 1", "pending 0", "dead 1", "oldestPendingSeconds -");
    assertThat(cli("status", "--json").out())
        .startsWith("{\"schemaVersion\": 1, \"pending\": 0,")
        .contains("\"dead\": 1", "\"oldestPendingSeconds\": null}");
  }

  @Test
  @DisplayName("dead letters are listed, requeued and discarded, one by one and all")
  void deadLetters() throws Exception {
    assertThat(cli("migrate").code()).isZero();
    assertThat(cli("dead-letters", "list").out()).contains("There are no dead letters.");
    long first = insertDead("broker said no");
    long second = insertDead("two\nlines, \u001B[2J\u202Epassword=geheim");
    long third = insertDead("x");

    Cli list = cli("dead-letters", "list", "--limit=2");
    assertThat(list.out())
        .contains(
            "OrderPlaced", "broker said no", "two lines, \\u001b[2J\\u202e", "--after " + second)
        .doesNotContain("geheim", "\u001B", "\u202E");
    assertThat(cli("dead-letters", "list", "--after=" + second).out())
        .contains(Long.toString(third))
        .doesNotContain("broker said no");

    Cli requeue = cli("dead-letters", "requeue", Long.toString(first), "999999");
    assertThat(requeue.code()).isEqualTo(1);
    assertThat(requeue.out()).contains("1 requeued.", "There is no dead letter 999999.");
    assertThat(cli("dead-letters", "discard", Long.toString(second)).out())
        .contains("1 discarded.");
    assertThat(cli("dead-letters", "requeue", "--all").out()).contains("1 requeued.");
    assertThat(statuses()).hasSize(2).doesNotContain("DEAD");
  }
}
