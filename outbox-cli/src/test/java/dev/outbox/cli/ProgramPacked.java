package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.embedded.DatabaseServer;
import dev.outbox.embedded.EmbeddedKafka;
import dev.outbox.embedded.EmbeddedNats;
import io.nats.client.JetStreamManagement;
import io.nats.client.NKey;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.MessageInfo;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The tar.gz as operators have it: unpacked into a folder of its own, whose name has a space, on a
 * machine with a Java and no Maven, with an empty home.
 */
class ProgramPacked {
  private static final Path TAR = Path.of(System.getProperty("outbox.tar", "none"));
  private static final String JAVA_HOME = System.getProperty("java.home");

  /** Programs that run for a moment: they need not compile what they run. */
  private static final String LITTLE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

  @TempDir static Path folder;
  private static Path home;
  private static DatabaseServer postgres;

  @BeforeAll
  static void unpack() throws Exception {
    assumeTrue(System.getProperty("outbox.tar") != null, "nothing is packed before this phase");
    Path place = Files.createDirectories(folder.resolve("opt of mine"));
    run(place, Map.of("PATH", System.getenv("PATH")), "tar", "-xzf", TAR.toString()).done();
    try (Stream<Path> all = Files.list(place)) {
      home = all.filter(Files::isDirectory).findFirst().orElseThrow();
    }
    postgres = DatabaseServer.postgres();
  }

  @AfterAll
  static void stop() {
    if (postgres != null) {
      postgres.close();
    }
  }

  private static Cli run(Path directory, Map<String, String> environment, String... command)
      throws Exception {
    Process process = start(directory, environment, command);
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as("it ends").isTrue();
      return new Cli(
          process.exitValue(),
          Files.readString(directory.resolve("out")),
          Files.readString(directory.resolve("err")));
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start(Path directory, Map<String, String> environment, String... command)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(directory.resolve("err").toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    return builder.start();
  }

  /** Runs a relay until something is done, and stops it by SIGTERM; returns what it has logged. */
  private static String relaying(String config, Callable<Boolean> isDone) throws Exception {
    Path work = Files.createTempDirectory(folder, "relay");
    Path file = Files.writeString(work.resolve("relay.properties"), config);
    String program = home.resolve("bin/outbox").toString();
    Map<String, String> environment = environment();
    environment.put("JAVA_OPTS", LITTLE + " -Duser.language=th -Duser.country=TH");
    Process relay = start(work, environment, program, "relay", "--config=" + file);
    try {
      await().atMost(Duration.ofMinutes(3)).until(() -> isDone.call() || !relay.isAlive());
      assertThat(relay.isAlive()).as(Files.readString(work.resolve("err"))).isTrue();
    } finally {
      stop(relay);
    }
    assertThat(relay.exitValue()).isEqualTo(143);
    return Files.readString(work.resolve("err"));
  }

  /** By SIGTERM. */
  private static void stop(Process program) throws InterruptedException {
    program.destroy();
    assertThat(program.waitFor(2, TimeUnit.MINUTES)).as("it stops").isTrue();
  }

  /** What a service's environment has, and nothing of Maven's. */
  private static Map<String, String> environment() throws IOException {
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("PATH", "/usr/bin:/bin");
    environment.put("HOME", Files.createTempDirectory(folder, "home").toString());
    environment.put("JAVA_HOME", JAVA_HOME);
    environment.put("JAVA_OPTS", LITTLE);
    return environment;
  }

  private static Cli outbox(Map<String, String> more, String... arguments) throws Exception {
    Map<String, String> environment = environment();
    environment.putAll(more);
    List<String> command = new ArrayList<>(List.of(home.resolve("bin/outbox").toString()));
    command.addAll(List.of(arguments));
    return run(
        Files.createTempDirectory(folder, "work"), environment, command.toArray(String[]::new));
  }

  @Test
  @DisplayName("has jars for operators in lib, and none for tests or for developers")
  void jars() throws Exception {
    List<String> jars;
    try (Stream<Path> all = Files.list(home.resolve("lib"))) {
      jars = all.map(jar -> jar.getFileName().toString()).sorted().toList();
    }
    assertThat(jars)
        .filteredOn(jar -> jar.startsWith("outbox-"))
        .map(jar -> jar.replaceFirst("-\\d.*", ""))
        .containsExactly(
            "outbox-api",
            "outbox-cli",
            "outbox-micrometer",
            "outbox-publisher-core",
            "outbox-publisher-http",
            "outbox-publisher-kafka",
            "outbox-publisher-nats",
            "outbox-publisher-rabbitmq",
            "outbox-relay",
            "outbox-store-core",
            "outbox-store-jdbc",
            "outbox-store-mongo",
            "outbox-store-mysql",
            "outbox-store-postgres",
            "outbox-store-redis",
            "outbox-store-sqlserver",
            "outbox-ui");
    assertThat(jars)
        .noneMatch(
            jar ->
                jar.matches(
                    "(?i).*(tests|junit|opentest4j|apiguardian|assertj|awaitility|jqwik|mockito|hamcrest|testcontainers|embedded|kafka_2|kafka-server|hsqldb).*"));
    List<String> inThem = new ArrayList<>();
    for (String jar : jars) {
      try (FileSystem content = FileSystems.newFileSystem(home.resolve("lib").resolve(jar))) {
        for (String library : List.of("org/junit", "org/opentest4j", "org/assertj")) {
          if (Files.exists(content.getPath(library))) {
            inThem.add(jar + " " + library);
          }
        }
      }
    }
    assertThat(inThem).isEmpty();
  }

  @Test
  @DisplayName("has the alerts and the dashboard")
  void metrics() {
    for (String name : List.of("alerts.yml", "dashboard.json")) {
      assertThat(home.resolve("metrics").resolve(name))
          .hasSameBinaryContentAs(Path.of("../docs/metrics", name));
    }
  }

  @Test
  @DisplayName("is found by links to it from elsewhere")
  void links() throws Exception {
    Path bin = Files.createDirectories(folder.resolve("links"));
    Files.createSymbolicLink(bin.resolve("absolute"), home.resolve("bin/outbox"));
    Path relative = Files.createSymbolicLink(bin.resolve("relative"), Path.of("absolute"));
    Cli version = run(bin, environment(), relative.toString(), "--version");
    assertThat(version.err()).isEmpty();
    assertThat(version.out()).startsWith("outbox ");
    assertThat(version.code()).isZero();
  }

  @Test
  @DisplayName("says what is missing when there is no Java, or one that is too old")
  void java() throws Exception {
    Path none = Files.createDirectories(folder.resolve("none"));
    for (String tool : List.of("dirname", "sed", "head", "readlink")) {
      Path script = none.resolve(tool);
      Files.writeString(script, "#!/bin/sh\nexec /usr/bin/%s \"$@\"\n".formatted(tool));
      assertThat(script.toFile().setExecutable(true)).isTrue();
    }
    Map<String, String> noJava = Map.of("PATH", none.toString(), "JAVA_HOME", "");
    assertThat(outbox(noJava, "--version").refused())
        .startsWith("outbox: there is no java: install a JRE of Java 17");

    assertThat(outbox(Map.of("JAVA_HOME", "/nowhere"), "--version").refused())
        .startsWith("outbox: JAVA_HOME is /nowhere, but there is no bin/java");

    Path old = Files.createDirectories(folder.resolve("old jre/bin")).resolve("java");
    Files.writeString(old, "#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n");
    assertThat(old.toFile().setExecutable(true)).isTrue();
    assertThat(
            outbox(Map.of("JAVA_HOME", old.getParent().getParent().toString()), "--version")
                .refused())
        .contains("has version 11, 17 or newer is needed");
  }

  @Test
  @DisplayName("has the client of Redis and all that it needs")
  void redis() throws Exception {
    assertThat(outbox(Map.of(), "status", "--url=redis://127.0.0.1:1", "--schema=shop").err())
        .contains("Connection refused", "; is the server running there?");
  }

  @Test
  @DisplayName("takes options of the JVM from JAVA_OPTS")
  void options() throws Exception {
    Cli bad = outbox(Map.of("JAVA_OPTS", "-Xmx64m -XX:NoSuchOption"), "--version");
    assertThat(bad.code()).isEqualTo(1);
    assertThat(bad.out() + bad.err()).contains("NoSuchOption");
  }

  @Test
  @DisplayName(
      "migrates, relays from PostgreSQL until SIGTERM, to Kafka, over HTTP and to a publisher of one's own in ext, and shows the page")
  void relay() throws Exception {
    Path jar = home.resolve("ext/file-publisher.jar");
    Path other = home.resolve("ext/file-publisher-2.jar");
    packExample("custom-publisher", jar);
    Map<String, String> secret = Map.of(DatabaseOptions.PASSWORD_VARIABLE, postgres.password());
    List<String> where = Sql.options(postgres).subList(0, 2);
    Path audit = Files.createDirectories(folder.resolve("spool")).resolve("audit.tsv");
    try (EmbeddedKafka kafka = EmbeddedKafka.start();
        Endpoint http = new Endpoint(0);
        KafkaConsumer<String, String> consumer = consumer(kafka.bootstrapServers())) {
      outbox(secret, with("migrate", where)).done();
      insert("order", "public", false);
      insert("order", "public", true);
      insert("audit", "public", false);
      insert("invoice", "public", false);
      consumer.subscribe(List.of("packed.order")); // the embedded broker makes it by itself
      List<String> values = new ArrayList<>();
      String config =
          """
          %s%spublisher.http.types=invoice
          publisher.file.types=audit
          publisher.file.destination={aggregateType}.tsv
          file.folder=%s
          kafka.bootstrap.servers=%s
          publisher.kafka.destination=packed.{aggregateType}
          """
              .formatted(
                  store("public"),
                  http.settings("{aggregateType}").replace("=http\n", "=kafka,http,file\n"),
                  audit.getParent(),
                  kafka.bootstrapServers());
      String log =
          relaying(
              config,
              () -> {
                consumer.poll(Duration.ofMillis(200)).forEach(record -> values.add(record.value()));
                return !values.isEmpty() && !http.posted.isEmpty() && Files.exists(audit);
              });
      assertThat(values).as(log).first().isEqualTo("hello");
      assertThat(http.posted).containsExactly("invoice hello");
      assertThat(Files.readString(audit)).contains("\taudit\t1\tOrderPlaced\t");
      assertThat(log)
          .startsWith("20") // also where people count other years
          .contains("From jdbc:", " to kafka " + kafka.bootstrapServers());
      page(secret, where);

      Files.copy(jar, other);
      Path file = Files.writeString(folder.resolve("routed.properties"), config);
      assertThat(outbox(Map.of(), "relay", "--config=" + file).refused())
          .startsWith(
              "outbox: dev.outbox.example.publisher.FilePublisherProvider comes twice, from ")
          .contains(jar.getFileName().toString(), other.getFileName().toString(), "take one of");
    } finally {
      Files.delete(jar);
      Files.deleteIfExists(other);
    }
  }

  private static KafkaConsumer<String, String> consumer(String bootstrapServers) {
    return new KafkaConsumer<>(
        Map.of(
            "bootstrap.servers",
            bootstrapServers,
            "group.id",
            "packed",
            "auto.offset.reset",
            "earliest",
            "metadata.max.age.ms",
            500),
        new StringDeserializer(),
        new StringDeserializer());
  }

  @Test
  @DisplayName("works with a store of one's own, whose jar is in ext, with what that can do")
  void customStore() throws Exception {
    for (String locale : List.of("", "xx_XX.UTF-8")) { // none, or one that is not installed
      assertThat(outbox(Map.of("LC_ALL", locale), "status", "--url=jdbc:hsqldb:mem:\u00e4").err())
          .contains("outbox: no store takes the URL jdbc:hsqldb:mem:\u00e4, those that were found")
          .contains("postgres jdbc:postgresql:;");
    }

    Path jar = home.resolve("ext/hsqldb-store.jar");
    Path driver = home.resolve("ext/hsqldb.jar");
    packExample("custom-store", jar);
    Files.copy(jarOf("org.hsqldb.jdbc.JDBCDriver"), driver);
    String url = "jdbc:hsqldb:file:%s;shutdown=true".formatted(folder.resolve("db/shop"));
    List<String> where = List.of("--url=" + url, "--user=sa");
    try (Endpoint http = new Endpoint(0)) {
      outbox(Map.of(), with("migrate", where)).done();
      try (Connection connection = DriverManager.getConnection(url, "sa", "")) {
        insert(connection, "id, dead", "uuid(), false", "order", 1);
        insert(connection, "id, dead", "uuid(), true", "order", 2);
      }
      String log =
          relaying(
              "store.url=%s\nstore.user=sa\n%s".formatted(url, http.settings("{aggregateType}")),
              () -> !http.posted.isEmpty());
      assertThat(http.posted).as(log).containsExactly("order hello");
      assertThat(outbox(Map.of(), with("status", where, "--max-dead=0")).failed())
          .contains("TOO MUCH");
      Cli discard =
          outbox(Map.of(), with("dead-letters", List.of("discard", "--all", "--yes"), where));
      assertThat(discard.out()).as(discard.err()).contains("OrderPlaced", "1 discarded.");
    } finally {
      Files.delete(jar);
      Files.delete(driver);
    }
  }

  /** A relay's settings. */
  private static String store(String schema) {
    return "store.url=%s\nstore.user=%s\nstore.password=%s\nstore.schema=%s\n"
        .formatted(postgres.jdbcUrl(), postgres.user(), postgres.password(), schema);
  }

  @Test
  @DisplayName("ends a migration that is under way before SIGTERM ends it")
  void migrationIsEnded() throws Exception {
    List<String> unused = Sql.query(postgres, "create schema slow");
    Map<String, String> environment = environment();
    environment.put(DatabaseOptions.PASSWORD_VARIABLE, postgres.password());
    Path work = Files.createTempDirectory(folder, "migrate");
    String program = home.resolve("bin/outbox").toString();
    List<String> where = Sql.options(postgres).subList(0, 2);
    Process migrate;
    try (Connection other = Sql.connect(postgres);
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("create table slow.outbox_schema (x int)"); // so that its own has to wait
      migrate = start(work, environment, with(program, List.of("migrate", "--schema=slow"), where));
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  Sql.query(postgres, "select 1 from pg_locks where not granted").size() == 1
                      || !migrate.isAlive());
      migrate.destroy();
      assertThat(migrate.waitFor(1, TimeUnit.SECONDS)).as("it waits").isFalse();
      other.rollback();
    }
    stop(migrate);
    assertThat(migrate.exitValue()).isEqualTo(143);
    String lock = "select locked from slow.outbox_databasechangeloglock";
    assertThat(Sql.query(postgres, lock))
        .as(Files.readString(work.resolve("err")))
        .containsExactly("f");
    Cli.run(Sql.options(postgres), "status", "--schema=slow").done();
  }

  @Test
  @DisplayName("publishes to NATS as a user with credentials")
  void nats() throws Exception {
    NKey user = NKey.createUser(null);
    Path credentials = folder.resolve("relay.creds");
    Files.writeString(
        credentials,
        """
        -----BEGIN NATS USER JWT-----
        none, as this server knows its users by their keys
        ------END NATS USER JWT------
        -----BEGIN USER NKEY SEED-----
        %s
        ------END USER NKEY SEED------
        """
            .formatted(String.valueOf(user.getSeed())));
    String knowsUser = "authorization { users: [{ nkey: %s }] }";
    try (EmbeddedNats nats = startNats(knowsUser.formatted(String.valueOf(user.getPublicKey())));
        io.nats.client.Connection connection =
            Nats.connect(
                Options.builder()
                    .server(nats.url())
                    .authHandler(Nats.credentials(credentials.toString()))
                    .build())) {
      JetStreamManagement streams = connection.jetStreamManagement();
      streams.addStream(StreamConfiguration.builder().name("AUDIT").subjects("audit.>").build());
      List<String> unused = Sql.query(postgres, "create schema nats");
      Cli.run(Sql.options(postgres), "migrate", "--schema=nats").done();
      insert("audit", "nats", false);
      String log =
          relaying(
              "%spublisher=nats\nnats.servers=%s\nnats.credential.path=%s\n"
                  .formatted(store("nats"), nats.url(), credentials),
              () -> streams.getStreamInfo("AUDIT").getStreamState().getMsgCount() > 0);
      MessageInfo audit = streams.getFirstMessage("AUDIT", "audit.1");
      assertThat(audit.getData()).as(log).asString(UTF_8).isEqualTo("hello");
    }
  }

  private static EmbeddedNats startNats(String settings) {
    try {
      return EmbeddedNats.start(settings);
    } catch (UnsupportedOperationException e) {
      System.err.println("Tests are SKIPPED: no NATS to test with: " + e.getMessage());
      return abort("no NATS to test with: " + e.getMessage());
    }
  }

  private static Path jarOf(String type) throws Exception {
    URL source = Class.forName(type).getProtectionDomain().getCodeSource().getLocation();
    return Path.of(source.toURI());
  }

  /** An example's classes, compiled as its author would, into a jar outside of this build. */
  private static void packExample(String example, Path jar) throws Exception {
    Path main = Path.of("../examples", example, "src/main");
    Path classes = Files.createTempDirectory(folder, "classes");
    List<String> javac =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-nowarn",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path")));
    try (Stream<Path> all = Files.walk(main)) {
      all.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(javac::add);
    }
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, javac.toArray(String[]::new)))
        .isZero();
    try (FileSystem content = FileSystems.newFileSystem(jar, Map.of("create", "true"))) {
      copy(classes, content.getPath("/"));
      copy(main.resolve("resources"), content.getPath("/"));
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        Files.createDirectories(target.getParent());
        Files.copy(file, target);
      }
    }
  }

  /** Reads the page at the address that the program prints, until SIGTERM. */
  private static void page(Map<String, String> secret, List<String> where) throws Exception {
    Path work = Files.createTempDirectory(folder, "page");
    Map<String, String> environment = environment();
    environment.putAll(secret);
    String program = home.resolve("bin/outbox").toString();
    Process page = start(work, environment, with(program, List.of("ui", "--port=0"), where));
    try {
      await()
          .failFast("the page has ended", () -> !page.isAlive())
          .until(() -> Files.readString(work.resolve("out")).contains("Ctrl-C"));
      String address = Files.readString(work.resolve("out")).lines().findFirst().orElseThrow();
      String seen = new Browser().get(URI.create(address)).body();
      assertThat(seen).contains("nothing to do", "1 dead letter");
    } finally {
      stop(page);
    }
    assertThat(page.exitValue()).isEqualTo(143);
    assertThat(Files.readString(work.resolve("err"))).isEmpty();
  }

  private static String[] with(String command, List<String> more, String... rest) {
    return with(command, more, List.of(rest));
  }

  private static String[] with(String command, List<String> more, List<String> rest) {
    return Stream.of(List.of(command), more, rest).flatMap(List::stream).toArray(String[]::new);
  }

  private static void insert(String type, String schema, boolean dead) throws SQLException {
    try (Connection connection = Sql.connect(postgres)) {
      connection.setSchema(schema);
      insert(
          connection,
          "status, attempts",
          dead ? "'DEAD', 10" : "default, default",
          type,
          dead ? 2 : 1);
    }
  }

  private static void insert(
      Connection connection, String columns, String values, String type, int id)
      throws SQLException {
    String sql =
        "insert into outbox_message (%s, aggregate_type, aggregate_id, event_type, payload) values (%s, '%s', '%d', 'OrderPlaced', ?)";
    try (PreparedStatement insert =
        connection.prepareStatement(sql.formatted(columns, values, type, id))) {
      insert.setBytes(1, "hello".getBytes(UTF_8));
      insert.executeUpdate();
    }
  }
}
