package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StoreProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
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

  /** The test's database, with connections of its own. */
  abstract StoreProvider.Opened opened();

  /** Returns the sequence. */
  abstract long insertDead(String error) throws Exception;

  /** Of all messages. */
  abstract List<String> statuses() throws Exception;

  final Cli cli(String... arguments) {
    return Cli.run(options(), arguments);
  }

  /** A relay's settings: those that lead to the test's outbox, and others. */
  final Properties relay(String others) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(others));
    for (String option : options()) {
      String[] parts = option.substring(2).split("=", 2);
      properties.put("store." + parts[0], parts[1]);
    }
    return properties;
  }

  @Test
  @DisplayName("status before migrate says what to do; migrate twice is fine; status then counts")
  void migrateAndStatus() throws Exception {
    assertThat(cli("status").refused()).contains("outbox migrate");

    for (int i = 0; i < 2; i++) {
      assertThat(cli("migrate").done()).contains("up to date");
    }
    long unused = insertDead("x");
    assertThat(cli("status").lines())
        .contains("pending 0", "dead 1", "oldestFreeSeconds -", "oldestBlockedSeconds -")
        .anyMatch(line -> line.matches("relays [0-]"));
    assertThat(cli("status", "--json").out())
        .startsWith("{\"place\": \"")
        .contains("\"pending\": 0,")
        .contains("\"dead\": 1", "\"oldestFreeSeconds\": null, \"oldestBlockedSeconds\": null, ")
        .contains("\"cap\": 10000, \"leases\": [], \"findings\": [{\"what\": \"")
        .endsWith("\"passedLimits\": []}" + System.lineSeparator());
    cli("status", "--max-dead=1", "--max-age=1ms").done();
    assertThat(cli("status", "--max-dead=0").failed())
        .contains("TOO MUCH: there are 1 dead letters, --max-dead is 0");
    assertThat(cli("status", "--cap=1").lines()).contains("pending 0", "dead 1 or more");
  }

  @Test
  @DisplayName("discard --all shows what there is and asks; without a terminal it wants --yes")
  void discardAll() throws Exception {
    cli("migrate").done();
    long first = insertDead("x");
    long second = insertDead("x");
    assertThat(cli("dead-letters", "discard", "--all").refused()).contains("add --yes");

    for (String answer : List.of("no", "")) {
      assertThat(answering(answer).done())
          .contains(
              "2 dead letters:",
              "2  order OrderPlaced: x, sequences %d to %d".formatted(first, second))
          .contains("Type yes: ", "0 discarded.");
    }
    assertThat(statuses()).hasSize(2);
    assertThat(answering("yes").out()).contains("2 discarded.");
    assertThat(statuses()).isEmpty();
    long unused = insertDead("x");
    assertThat(cli("dead-letters", "discard", "--all", "--yes").out())
        .contains("1 dead letter:", "1 discarded.")
        .doesNotContain("Type yes");
  }

  @Test
  @DisplayName("which dead letters halt their keys is listed, and status names such keys")
  void halted() throws Exception {
    cli("migrate").done();
    long other = insertDead("y");
    long halting = halt();

    assertThat(cli("dead-letters", "list").out().lines())
        .filteredOn(line -> line.contains("OrderPlaced"))
        .hasSize(2)
        .anyMatch(line -> line.contains("" + other))
        .allSatisfy(
            line ->
                assertThat(line.endsWith(", halts its key"))
                    .isEqualTo(line.strip().startsWith(halting + " ")));
    assertThat(cli("status").lines())
        .contains(
            "haltedKeys 1",
            " outbox dead-letters requeue %1$d, or outbox dead-letters discard %1$d"
                .formatted(halting))
        .contains(
            "PROBLEM: halted key: key order/17 is halted by dead letter %d, 0 behind it (rejected)"
                .formatted(halting))
        .noneMatch(line -> line.contains("and others"));
    assertThat(cli("status", "--json").out())
        .contains(
            "{\"what\": \"halted key\", \"severity\": \"problem\", \"sentence\": \"key order/17 is halted by dead letter %d"
                .formatted(halting));
    assertThat(cli("keys", "--halted").out())
        .contains("" + halting, "somebody decides", "order/17", "rejected");
    assertThat(answering("yes").out())
        .contains("1 of them halt their keys.", "Type yes once more: ", "0 discarded.");
    assertThat(answering("yes", "yes").out()).contains("2 discarded.");
    assertThat(cli("status", "--json").out()).doesNotContain("halted key");
  }

  /** Returns the sequence of a dead letter that halts its key. */
  private long halt() throws Exception {
    long halting = insertDead("x");
    cli("dead-letters", "requeue", "" + halting).done();
    try (StoreProvider.Opened opened = opened()) {
      Claim claim =
          opened.store().claim(new Claim.Request("test", 1, 1_000_000, Duration.ofMinutes(1)));
      assertThat(claim.messages()).hasSize(1);
      assertThat(claim.settle(Map.of(halting, Decision.deadHaltingKey("rejected")))).isEmpty();
    }
    return halting;
  }

  @Test
  @DisplayName("discard of a dead letter that halts its key asks twice; else it wants --yes")
  void discardHalting() throws Exception {
    cli("migrate").done();
    String other = "" + insertDead("y");
    String halting = "" + halt();
    assertThat(cli("dead-letters", "discard", other, halting).refused())
        .contains("dead letter %s halts its key".formatted(halting), "add --yes");
    assertThat(answeringTo(List.of("dead-letters", "discard", other, halting), "yes", "no").out())
        .contains("1 of them halt their keys", "Type yes once more: ", "0 discarded.");
    assertThat(statuses()).hasSize(2);
    assertThat(cli("dead-letters", "discard", other).out()).contains("1 discarded.");
    assertThat(cli("dead-letters", "discard", halting, "--yes").out())
        .contains("1 discarded.")
        .doesNotContain("Type yes");
  }

  @Test
  @DisplayName("watch shows what status does, with what has changed, as often as it is told to")
  void watches() throws Exception {
    cli("migrate").done();
    long unused = insertDead("x");
    cli("pause", "--type=order").done();
    assertThat(cli("watch", "--count=3", "--interval=100ms").done().lines())
        .hasSize(3)
        .allMatch(
            line ->
                line.matches(
                    "2\\S+Z nothing to do: oldest - s, pending 0, blocked 0, dead 1,.* paused: messages of .*, dead letters: 1 .*"))
        .last()
        .asString()
        .contains("change 0.0/s");
    Cli objects = cli("watch", "--count=2", "--interval=100ms", "--json");
    assertThat(objects.out().lines())
        .hasSize(2)
        .allMatch(line -> line.startsWith("{\"at\": \"2") && line.endsWith("}]}"))
        .allMatch(line -> line.contains("\"delivery\": \"nothing to do\", \"perSecond\": {"))
        .last()
        .asString()
        .contains("\"change\": 0.0}, \"place\": ", "\"dead\": 1", "\"what\": \"paused\"");
    System.setProperty("outbox.terminal", "true");
    try {
      String screens = cli("watch", "--count=2", "--interval=100ms").out();
      assertThat(List.of(screens.split("\u001b\\[H\u001b\\[J")))
          .hasSize(3)
          .last()
          .asString()
          .contains("Z nothing to do: ", "haltedKeys ", "WARNING: paused: ");
    } finally {
      System.clearProperty("outbox.terminal");
    }
    assertThat(cli("watch", "--interval=1ms").refused())
        .contains("at least 100ms and 1 are needed");
  }

  @Test
  @DisplayName("messages and keys are listed, by what they are asked for, and shown")
  void looks() throws Exception {
    cli("migrate").done();
    assertThat(cli("messages", "list").out()).contains("There are no such messages.");
    long other = insertDead("unknown topic: orders");
    long retried = insertDead("x");
    cli("dead-letters", "requeue", "" + retried).done();
    try (StoreProvider.Opened opened = opened()) {
      Claim claim =
          opened.store().claim(new Claim.Request("test", 1, 1_000_000, Duration.ofMinutes(1)));
      String error = "refused\n\u001B[2J password=geheim";
      assertThat(claim.settle(Map.of(retried, Decision.retry(Duration.ofHours(1), error))))
          .isEmpty();
    }

    assertThat(cli("messages", "list").out())
        .contains(
            "" + other, "DEAD", "" + retried, "BLOCKED", "OrderPlaced of order/17", "\\u001b[2J")
        .doesNotContain("geheim", "\u001B");
    assertThat(cli("messages", "list", "--error", "unknown topic").out())
        .contains("" + other)
        .doesNotContain("BLOCKED");
    Cli first = cli("messages", "list", "--limit=1");
    assertThat(first.out().lines()).hasSize(4);
    String after = first.out().strip().replaceFirst("(?s).*There may be more: --after ", "");
    assertThat(cli("messages", "list", "--after", after).out())
        .contains("BLOCKED")
        .doesNotContain("DEAD");
    assertThat(cli("messages", "list", "--after=x").refused()).contains("--after: after is x");
    assertThat(cli("messages", "list", "--status=dead", "--json").out())
        .startsWith("{\"found\": [{\"sequence\": %d, \"id\": \"".formatted(other))
        .contains("\"error\": \"unknown topic: orders\"", "\"haltsKey\": false}")
        .endsWith("], \"next\": null}" + System.lineSeparator());

    assertThat(cli("keys").out())
        .contains("" + retried, "order/17", "refused \\u001b[2J")
        .doesNotContain("geheim");
    assertThat(cli("keys", "--json").out())
        .startsWith("{\"found\": [{\"key\": \"order/17\", \"behind\": %d, ".formatted(retried));
    assertThat(cli("keys", "--halted").out()).contains("No such key waits.");

    assertThat(cli("messages", "show", "" + retried).out().lines())
        .contains("status        BLOCKED", "key           order/17")
        .noneMatch(line -> line.contains("geheim"))
        .anyMatch(line -> line.matches("payload +0 bytes; --payload shows them"));
    assertThat(cli("messages", "show", "" + retried, "--payload").out().lines())
        .contains("payload size  0 bytes", "payload       ")
        .noneMatch(line -> line.contains("--payload"));
    assertThat(cli("messages", "show", "" + (retried + 1_000)).failed())
        .contains("There is no message " + (retried + 1_000));
  }

  @Test
  @DisplayName("dead letters are decided about by what they are, and first only counted")
  void decidesBySomeFilter() throws Exception {
    cli("migrate").done();
    long first = insertDead("unknown topic: orders");
    long second = insertDead("unknown topic: orders");
    long other = insertDead("too large");
    assertThat(cli("dead-letters", "list", "--error=unknown").out())
        .contains("" + first, "" + second)
        .doesNotContain("too large");
    for (String verb : List.of("requeue", "discard")) {
      assertThat(cli("dead-letters", verb, "--all", "--dry-run", "--error=topic: o").out())
          .contains(
              "2  order OrderPlaced: unknown topic: orders, sequences %d to %d"
                  .formatted(first, second))
          .doesNotContain("large");
      assertThat(cli("dead-letters", verb, "" + first, "--type=order").refused())
          .contains("need --all");
    }
    assertThat(statuses()).hasSize(3);
    assertThat(cli("dead-letters", "discard", "--all", "--type=invoice", "--yes").out())
        .contains("0 discarded.");
    assertThat(cli("dead-letters", "requeue", "--all", "--error=unknown topic").out())
        .contains("2 requeued.");
    assertThat(cli("dead-letters", "list").out())
        .contains("" + other, "too large")
        .doesNotContain("unknown");
  }

  /** With a person at the terminal, who types ahead. */
  private Cli answering(String... answers) {
    return answeringTo(List.of("dead-letters", "discard", "--all"), answers);
  }

  private Cli answeringTo(List<String> command, String... answers) {
    InputStream in = System.in;
    System.setProperty("outbox.terminal.in", "true");
    System.setIn(
        new ByteArrayInputStream(String.join("\n", answers).getBytes(StandardCharsets.UTF_8)));
    try {
      return cli(command.toArray(String[]::new));
    } finally {
      System.setIn(in);
      System.clearProperty("outbox.terminal.in");
    }
  }

  @Test
  @DisplayName("what is paused is shown until its resume, and drain waits for what is due")
  void pausesAndDrains() throws Exception {
    cli("migrate").done();
    assertThat(cli("drain", "--timeout", "10s").done()).startsWith("Nothing is due.");
    assertThat(cli("pause", "--type", "order", "--by", "ann", "--reason", "stock taking").done())
        .startsWith("messages of aggregate type order are paused since ")
        .contains(" by ann (stock taking)")
        .hasLineCount(1);
    assertThat(cli("pause", "--json").done())
        .contains("\"type\": null", "\"reason\": \"stock taking\"");
    assertThat(cli("status").out())
        .contains("WARNING: paused: messages of aggregate type order are paused since ")
        .contains(
            "outbox resume --type order", "WARNING: delivery: all messages are paused since ");
    assertThat(cli("resume").out()).contains("type order").doesNotContain("all messages");
    cli("resume").failed();
    assertThat(cli("resume", "--type", "order").done()).startsWith("Nothing is paused.");
    long sequence = insertDead("rejected");
    cli("drain").done(); // a dead letter is not due
    cli("dead-letters", "requeue", String.valueOf(sequence)).done();
    assertThat(cli("drain", "--timeout", "1s", "--json").failed())
        .startsWith("{\"drained\": false, ");
  }

  @Test
  @DisplayName("grants prints statements for these names, without connecting")
  void grants() {
    assertThat(cli("grants", "--producer=shop_web", "--relay=shop_relay").done())
        .contains("shop_web", "shop_relay")
        .doesNotContain("${");
    assertThat(cli("grants", "--producer=Shop", "--relay=shop_relay").refused())
        .startsWith("outbox: producer 'Shop' is not a plain name");
  }

  @Test
  @DisplayName("an inbox needs no outbox; status counts what is not done, up to its limits")
  void inbox() throws Exception {
    assertThat(cli("status", "--inbox").refused()).contains("outbox migrate --inbox");
    for (int i = 0; i < 2; i++) {
      assertThat(cli("migrate", "--inbox").done()).startsWith("The inbox is up to date: ");
    }
    cli("status").refused(); // the outbox is not there
    try (StoreProvider.Opened opened = opened()) {
      InboxStore<?> inbox = opened.inbox(InboxStore.DEFAULT_PREFIX).orElseThrow();
      begin(inbox, "1", Duration.ofMinutes(5));
      begin(inbox, "2", Duration.ofMinutes(5)).release("refused");
      begin(inbox, "3", Duration.ofMillis(1));
    }
    await()
        .untilAsserted(
            () ->
                assertThat(cli("status", "--inbox").lines())
                    .contains("inProgress 1", "expiredLocks 1", "failed 1"));
    assertThat(cli("status", "--inbox", "--json").out())
        .startsWith("{\"place\": \"")
        .endsWith(
            "\"inProgress\": 1, \"expiredLocks\": 1, \"failed\": 1, \"cap\": 10000}"
                + System.lineSeparator());
    assertThat(cli("status", "--inbox", "--cap=1").out())
        .contains("inProgress             1 or more");
  }

  private static Lock<?> begin(InboxStore<?> inbox, String id, Duration lock) {
    return ((Begin.Started<?>) inbox.begin(new InboxKey("shipping", id), lock)).lock();
  }

  @Test
  @DisplayName("grants of an inbox are for its consumer and its housekeeper")
  void inboxGrants() {
    assertThat(cli("grants", "--inbox", "--consumer=shop_web", "--housekeeper=shop_sweep").done())
        .contains("shop_web", "shop_sweep", "inbox_message")
        .doesNotContain("${", "outbox_message");
  }

  @Test
  @DisplayName("dead letters are listed, requeued and discarded, one by one and all")
  void deadLetters() throws Exception {
    cli("migrate").done();
    assertThat(cli("dead-letters", "list").out()).contains("There are no such dead letters.");
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

    assertThat(cli("dead-letters", "requeue", Long.toString(first), "999999").failed())
        .contains("1 requeued.", "There is no dead letter 999999.");
    assertThat(cli("dead-letters", "discard", Long.toString(second)).out())
        .contains("1 discarded.");
    assertThat(cli("dead-letters", "requeue", "--all").out()).contains("1 requeued.");
    assertThat(statuses()).hasSize(2).doesNotContain("DEAD");
  }
}
