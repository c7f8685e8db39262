package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MongoConnectionTest {
  static final String PRIMARY = "isWritablePrimary: true, ismaster: true, setName: 'rs0'";

  /** How it greets, what it answers then, options, and parts of the sentence. */
  static Stream<Arguments> servers() {
    return Stream.of(
        Arguments.of(
            "isWritablePrimary: true, ismaster: true",
            "{ok: 1}",
            List.of(),
            List.of("is a single server, and transactions need a replica set", "rs.initiate()")),
        Arguments.of(
            "isWritablePrimary: false, ismaster: false, secondary: true, setName: 'rs7'",
            "{ok: 1}",
            List.of(),
            List.of("is not the primary", "?replicaSet=rs7")),
        Arguments.of(
            PRIMARY + ", maxWireVersion: 13",
            "{ok: 1}",
            List.of(),
            List.of("is older than MongoDB 6.0")),
        Arguments.of(
            PRIMARY,
            "{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'requires authentication'}",
            List.of(),
            List.of(
                "cannot connect to mongodb://127.0.0.1:", "wants a user: give one with --user")),
        Arguments.of(
            PRIMARY,
            "{ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.'}",
            List.of("--user=relay", "--password=geheim"),
            List.of("cannot connect to mongodb://", "user relay of database shop", "authSource")),
        Arguments.of(
            PRIMARY,
            "{ok: 1}",
            List.of("--user=relay"),
            List.of("the user relay has no password", "OUTBOX_PASSWORD")));
  }

  @ParameterizedTest
  @MethodSource("servers")
  @DisplayName("what is wrong with a MongoDB that an outbox cannot be in is one sentence")
  void wrong(String greeting, String answer, List<String> options, List<String> parts)
      throws Exception {
    try (FakeMongo mongo = FakeMongo.answering(greeting, answer)) {
      String url = "--url=mongodb://127.0.0.1:%d/shop".formatted(mongo.port());
      assertThat(Cli.run(options, "status", url).refused())
          .contains(parts)
          .doesNotContain("geheim");
    }
  }
}
