package dev.outbox.dev.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.cli.Address;
import dev.outbox.dev.Cli;
import dev.outbox.dev.broker.Source.Received;
import dev.outbox.dev.common.Progress;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.StoreKind;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.tck.publisher.PublisherTck;
import dev.outbox.tck.publisher.PublisherTck.Attribute;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class TckReportTest {

  /** Not found by the build: it is run by the tests below. */
  static class Mixed {
    @Nested
    class Claims {
      @Test
      @DisplayName("C10: the tenth")
      void tenth() {}

      @Test
      @DisplayName("C2: the second")
      void second() {
        fail("C2: two lines:\n  password=geheim");
      }

      @Test
      @DisplayName("A1, C2: works for two rules")
      void two() {}
    }

    @Test
    @DisplayName("O5: not testable")
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
    void works() {}
  }

  static class Broken {
    @BeforeAll
    static void connect() {
      throw new IllegalStateException("no database");
    }

    @Test
    void never() {}
  }

  static class Skipped {
    @Test
    @DisplayName("needs a server")
    void skipped() {
      abort("no server");
    }
  }

  private static String run(Class<?> tck, int code) {
    StringWriter out = new StringWriter();
    assertThat(TckCommand.run(List.of(tck), false, new PrintWriter(out), () -> true))
        .isEqualTo(code);
    return out.toString().replace(System.lineSeparator(), "\n");
  }

  @Test
  @DisplayName("rules come in the order of the contract, with what failed, was skipped and why")
  void report() {
    assertThat(run(Mixed.class, 1))
        .isEqualTo(
            """

            skipped  without a rule
                       later

            passed   A1, C2: works for two rules

            FAILED   C2: the second
                       C2: two lines:
                         password=***

            passed   C10: the tenth

            skipped  O5: not testable
                       it cannot be seen

            What failed:
            FAILED   C2: the second
                       C2: two lines:
                         password=***
            2 passed, 1 failed, 2 skipped.
            """);
  }

  /** Of somebody's own publisher, which takes everything and keeps it in memory. */
  public static class OwnSuite extends PublisherTck {
    private final List<StoredMessage> taken = new CopyOnWriteArrayList<>();

    @Override
    protected MessagePublisher createPublisher() {
      return messages -> {
        taken.addAll(messages);
        return Collections.nCopies(messages.size(), Result.delivered());
      };
    }

    @Override
    protected List<Received> received() {
      return taken.stream()
          .map(m -> Received.of(m.message().recordKey(), m.message().payload(), List.of()))
          .map(r -> r.with(Attribute.ID, System.getProperty("outbox.test.url")))
          .toList();
    }

    @Override
    protected void reset() {
      taken.clear();
    }
  }

  @Test
  @DisplayName("a suite of one's own is run, and knows the database that was named")
  void ownSuite() {
    Cli cli = Cli.run("tck", "--suite=" + OwnSuite.class.getName(), "--url=jdbc:own:x");
    assertThat(cli.code()).as(cli.err()).isEqualTo(1);
    assertThat(cli.out())
        .contains("received() gives the attribute ID jdbc:own:x, not that of message 1");
  }

  @Test
  @DisplayName("what is no suite is refused")
  void noSuite() {
    assertThat(Cli.run("tck").err())
        .startsWith("outbox: neither --url nor --suite is given: say what to check");
    assertThat(Cli.run("tck", "--suite=dev.example.Mine").err())
        .startsWith("outbox: there is no class dev.example.Mine (");
    assertThat(Cli.run("tck", "--suite=java.lang.String").err())
        .isEqualToIgnoringNewLines(
            "outbox: java.lang.String is no suite: name a class that extends OutboxStoreTck, InboxStoreTck or PublisherTck");
  }

  static class Dying {
    @Test
    @DisplayName("each fails")
    void one() {
      fail("no answer");
    }

    @Test
    @DisplayName("each fails")
    void two() {
      fail("no answer");
    }

    @Nested
    class More {
      @Test
      void three() {}
    }
  }

  @Test
  @DisplayName("ends with the first failure behind which the server does not answer")
  void serverDies() {
    StringWriter out = new StringWriter();
    try (Place<?> nobody =
        StoreKind.at(new Address("jdbc:postgresql://127.0.0.1:1/x?connectTimeout=1", "a", ""))) {
      assertThat(
              TckCommand.run(
                  List.of(Dying.class),
                  false,
                  new PrintWriter(out),
                  () -> TckCommand.answers(nobody)))
          .isEqualTo(1);
    }
    assertThat(out.toString())
        .contains("What failed:", "FAILED   each fails")
        .contains("The server was gone after 1 of 3 tests, so the others were not run.")
        .contains("0 passed, 1 failed, 0 skipped.");
  }

  @Test
  @DisplayName("progress says the time and what is done, on one line of a terminal")
  void progress() {
    StringWriter out = new StringWriter();
    Progress progress = new Progress(new PrintWriter(out), true, Duration.ZERO);
    progress.show("3 of 135: Claim: one");
    progress.show("x".repeat(200));
    progress.wipe();
    assertThat(out.toString().split("\r"))
        .anyMatch(line -> line.matches(" +\\d\\.\\d s  3 of 135: Claim: one +"))
        .allMatch(line -> line.length() <= 100);
  }

  @Test
  @DisplayName("exit code 0 when all passed")
  void good() {
    assertThat(run(Good.class, 0)).endsWith("1 passed, 0 failed, 0 skipped.\n");
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
