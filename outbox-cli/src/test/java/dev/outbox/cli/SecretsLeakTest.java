package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every command, with a password in every place, where nothing works: nothing of it is printed. */
@DisplayName("A password is not printed")
class SecretsLeakTest {
  /** Part of each password; what is printed is searched for it. */
  private static final String PART = "Xq7z9";

  /** In the forms that drivers take, and some that none takes. */
  static Stream<String> urls() {
    return Stream.of(
        "jdbc:postgresql://127.0.0.1:1/x?user=a&password=Xq7z9pw&connectTimeout=1",
        "jdbc:postgresql://127.0.0.1:1/x?password=Xq7z9pw,Xq7z9;Xq7z9:x",
        "jdbc:postgresql://127.0.0.1:1/x?password=Xq7z9%20%26Xq7z9&sslpassword=Xq7z9ssl",
        "jdbc:postgresql://127.0.0.1:1/x?PassWord=Xq7z9pw&pwd=Xq7z9pwd&passphrase=Xq7z9p",
        "jdbc:postgresql://h:p:o/x?password=Xq7z9pw",
        "jdbc:postgresql:?password=Xq7z9pw\n",
        "jdbc:mysql://root:Xq7z9pw@127.0.0.1:1/x",
        "jdbc:mysql://root:Xq7z9@Xq7z9/Xq7z9@127.0.0.1:1/x",
        "jdbc:mysql://root:Xq7z9?Xq7z9@127.0.0.1:1/x",
        "jdbc:mysql://(host=127.0.0.1,port=1,user=a,password=Xq7z9pw)/x",
        // Of several hosts the driver tries each again and again, for half a minute.
        "jdbc:mysql://u:Xq7z91@127.0.0.1:1,u:Xq7z92@127.0.0.1:2/x?retriesAllDown=1",
        "jdbc:mysql://127.0.0.1:1/x?user=a&password=Xq7z9pw&trustCertificateKeyStorePassword=Xq7z9t&password2=Xq7z92",
        "jdbc:mysql:x?password=Xq7z9pw",
        "jdbc:mariadb://127.0.0.1:1/x?user=a&password=Xq7z9pw&keyStorePassword=Xq7z9k",
        "jdbc:mariadb:x?password=Xq7z9pw",
        "jdbc:sqlserver://127.0.0.1:1;user=a@h;password=Xq7z9pw;trustStorePassword=Xq7z9t;loginTimeout=1",
        "jdbc:sqlserver://127.0.0.1:1;user=a;password={Xq7z9;}}Xq7z9 x};loginTimeout=1",
        "jdbc:sqlserver:x;accessToken=Xq7z9token",
        "mongodb://a:Xq7z9pw@127.0.0.1:1,127.0.0.1:2/x?serverSelectionTimeoutMS=200",
        "mongodb://a:Xq7z9%40Xq7z9@127.0.0.1:1/x?serverSelectionTimeoutMS=200",
        "mongodb://a:Xq7z9?Xq7z9@127.0.0.1:1/x",
        "mongodb://a:Xq7z9/Xq7z9@h/x",
        "mongodb://a:Xq7z9@Xq7z9@h:x/y",
        "redis://:Xq7z9pw@127.0.0.1:1/0",
        "redis://a:Xq7z9%40Xq7z9@127.0.0.1:1?password=Xq7z9",
        "redis://a:Xq7z9%zz@127.0.0.1:1",
        "rediss://a:Xq7z9@Xq7z9:Xq7z9/x@127.0.0.1:1",
        "jdbc:oracle:thin:scott/Xq7z9tiger@//db:1521/shop",
        "postgresql://a:Xq7z9pw@db/shop",
        "jdbc:h2:mem:x;PASSWORD=Xq7z9pw;INIT=RUNSCRIPT FROM 'http://127.0.0.1:1/x.sql'");
  }

  @ParameterizedTest
  @MethodSource("urls")
  @DisplayName("of a URL, whatever its form, with all that a command has to say")
  void url(String url) {
    for (String command : List.of("status", "migrate")) {
      assertSilent(command + " --verbose", "--url=" + url);
    }
    assertSilent("status --bogus", "--url=" + url);
    assertSilent("status --url", url, "--schema=Not-A-Name");
    assertSilent("status --verbose --url", url, "--schema=shop");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status --json",
        "dead-letters list",
        "dead-letters requeue 1",
        "dead-letters discard --all --yes"
      })
  @DisplayName("of a URL, by the other commands")
  void command(String command) {
    for (String url :
        List.of(
            "jdbc:postgresql://127.0.0.1:1/x?password=Xq7z9pw",
            "jdbc:mysql://root:Xq7z9pw@127.0.0.1:1/x",
            "mongodb://a:Xq7z9pw@127.0.0.1:1/x?serverSelectionTimeoutMS=200")) {
      assertSilent(command + " --verbose", "--url=" + url);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--password=Xq7z9pw",
        "--pasword=Xq7z9pw",
        "--Password=Xq7z9pw",
        "-password=Xq7z9pw"
      })
  @DisplayName("of an option, also of a mistyped one")
  void option(String option) {
    assertSilent("status --url=jdbc:postgresql://127.0.0.1:1/x --user=a", "--pasword", "Xq7z9pw");
    assertSilent("status --url=jdbc:postgresql://127.0.0.1:1/x --user=a", option);
    assertSilent("migrate --verbose --url=jdbc:mysql://127.0.0.1:1/x --user=a", option);
    assertSilent(
        "status --url=mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=200 --user=a", option);
  }

  /** Runs it in this JVM; a command that fails ends with 2. */
  private static void assertSilent(String command, String... more) {
    List<String> arguments = new ArrayList<>(Arrays.asList(command.strip().split(" +")));
    arguments.addAll(List.of(more));
    ByteArrayOutputStream streams = new ByteArrayOutputStream();
    PrintStream out = System.out;
    PrintStream err = System.err;
    Cli cli;
    try (PrintStream both = new PrintStream(streams, true, UTF_8)) {
      System.setOut(both);
      System.setErr(both);
      cli = Cli.run(arguments.toArray(String[]::new));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
    assertThat(cli.code()).as("exit code of %s", arguments).isEqualTo(Main.NOT_DONE);
    assertThat(cli.out() + cli.err() + streams.toString(UTF_8))
        .as("printed by %s", arguments)
        .isNotBlank()
        .doesNotContain(PART);
  }

  /** Of a relay, whose log is part of what it prints; it has a JVM of its own. */
  static Stream<List<String>> relays() {
    String kafka = "kafka.bootstrap.servers=127.0.0.1:1";
    String store = "store.url=jdbc:postgresql://127.0.0.1:1/x";
    String jaas =
        "kafka.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\" password=\"Xq7z9\\\\\"Xq7z9\"";
    return Stream.of(
        List.of("store.url=jdbc:mysql://root:Xq7z9pw@127.0.0.1:1/x", kafka),
        List.of("store.url=jdbc:mariadb://127.0.0.1:1/x", "store.password=Xq7z9pw", kafka),
        List.of("store.url=mongodb://a:Xq7z9pw@127.0.0.1:1/x?serverSelectionTimeoutMS=200", kafka),
        List.of("store.url=redis://a:Xq7z9pw@127.0.0.1:1", "store.schema=shop", kafka),
        List.of(store, "store.password=${OUTBOX_PASSWORD}", kafka, jaas),
        List.of(store, kafka, "store.pasword=Xq7z9pw"),
        List.of(store, kafka, "store.password=Xq7z9\\u00"));
  }

  @ParameterizedTest
  @MethodSource("relays")
  @DisplayName("of a relay's file, with everything in the log that there is")
  void relay(List<String> properties, @TempDir Path directory) throws Exception {
    assertThat(relay(directory, properties)).isNotBlank().doesNotContain(PART);
  }

  @Test
  @DisplayName("of Kafka's settings, when the database answers and Kafka's settings are wrong")
  void kafka(@TempDir Path directory) throws Exception {
    try (FakeMongo mongo =
        FakeMongo.answering(
            MongoConnectionTest.PRIMARY,
            "{ok: 1, cursor: {id: 0, ns: 'shop.any', firstBatch: []}}")) {
      String printed =
          relay(
              directory,
              List.of(
                  "store.url=mongodb://127.0.0.1:%d/shop".formatted(mongo.port()),
                  "kafka.bootstrap.servers=127.0.0.1:1",
                  "kafka.security.protocol=SASL_SSL",
                  "kafka.sasl.mechanism=SCRAM-SHA-512",
                  "kafka.ssl.truststore.location=/no/such/file",
                  "kafka.ssl.truststore.password=Xq7z9trust",
                  "kafka.ssl.key.password=Xq7z9key",
                  "kafka.ssl.keystore.key=Xq7z9pem",
                  "publisher.pluginProperties=basic.auth.",
                  "kafka.basic.auth.user.info=me:Xq7z9me",
                  "kafka.sasl.jaas.config=Xq7z9.Module required password=Xq7z9pw"));
      assertThat(printed).contains("afka").doesNotContain(PART);
    }
  }

  /**
   * Runs it until it ends, which it does because nothing can be reached; returns all it printed.
   */
  private static String relay(Path directory, List<String> properties) throws Exception {
    Path file = directory.resolve("relay.properties");
    Files.write(file, Stream.concat(properties.stream(), Stream.of("log.level=trace")).toList());
    ProcessBuilder command =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "relay",
            "--verbose",
            "--config=" + file);
    command.environment().put(DatabaseOptions.PASSWORD_VARIABLE, "Xq7z9environment");
    File printed = directory.resolve("printed").toFile();
    Process process = command.redirectErrorStream(true).redirectOutput(printed).start();
    try {
      assertThat(process.waitFor(3, TimeUnit.MINUTES)).as("it ends").isTrue();
      assertThat(process.exitValue()).isEqualTo(Main.NOT_DONE);
    } finally {
      process.destroyForcibly();
    }
    return Files.readString(printed.toPath());
  }
}
