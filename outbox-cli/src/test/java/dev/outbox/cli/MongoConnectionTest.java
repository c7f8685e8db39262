package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What is said of a MongoDB that an outbox cannot be in. */
class MongoConnectionTest {
  private static final String PRIMARY = "isWritablePrimary: true, ismaster: true, setName: 'rs0'";

  /** Runs status against a server that greets so and answers all else with the second. */
  private static Cli status(String greeting, String answer, String... options) throws Exception {
    String all =
        """
        {ok: 1, helloOk: true, minWireVersion: 0, maxWireVersion: 21, maxBsonObjectSize: 16777216,
         maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000, %s}
        """
            .formatted(greeting);
    UnaryOperator<BsonDocument> server =
        command ->
            BsonDocument.parse(command.getFirstKey().matches("hello|is[mM]aster") ? all : answer);
    try (FakeMongo mongo = new FakeMongo(server)) {
      List<String> command = new ArrayList<>(List.of("status"));
      command.add("--url=mongodb://127.0.0.1:%d/shop".formatted(mongo.port()));
      command.addAll(List.of(options));
      Cli cli = Cli.run(command.toArray(String[]::new));
      assertThat(cli.code()).isEqualTo(2);
      assertThat(cli.err()).startsWith("outbox: ").hasLineCount(1);
      return cli;
    }
  }

  @Test
  @DisplayName("a single server is told how to become a replica set")
  void single() throws Exception {
    assertThat(status("isWritablePrimary: true, ismaster: true", "{ok: 1}").err())
        .contains("is a single server, and transactions need a replica set", "rs.initiate()");
  }

  @Test
  @DisplayName("a secondary is not worked on, and what finds the primary is said")
  void secondary() throws Exception {
    String greeting = "isWritablePrimary: false, ismaster: false, secondary: true, setName: 'rs7'";
    assertThat(status(greeting, "{ok: 1}").err()).contains("is not the primary", "?replicaSet=rs7");
  }

  @Test
  @DisplayName("a server before 6.0 is refused")
  void old() throws Exception {
    assertThat(status(PRIMARY + ", maxWireVersion: 13", "{ok: 1}").err())
        .contains("is older than MongoDB 6.0");
  }

  @Test
  @DisplayName("a server that wants a user says so")
  void user() throws Exception {
    String answer =
        "{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'requires authentication'}";
    assertThat(status(PRIMARY, answer).err())
        .contains("cannot connect to mongodb://127.0.0.1:", "wants a user: give one with --user");
  }

  @Test
  @DisplayName("a user who is refused is named, with where the server looked for him; no password")
  void refused() throws Exception {
    String answer =
        "{ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.'}";
    assertThat(status(PRIMARY, answer, "--user=relay", "--password=geheim").err())
        .contains(
            "cannot connect to mongodb://127.0.0.1:", "user relay of database shop", "authSource")
        .doesNotContain("geheim");
  }

  @Test
  @DisplayName("a user without a password is asked for one")
  void noPassword() throws Exception {
    assertThat(status(PRIMARY, "{ok: 1}", "--user=relay").err())
        .contains("the user relay has no password", "OUTBOX_PASSWORD");
  }
}
