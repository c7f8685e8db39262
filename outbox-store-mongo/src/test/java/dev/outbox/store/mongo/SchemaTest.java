package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Updates;
import dev.outbox.OutboxException;
import dev.outbox.SchemaException;
import dev.outbox.store.core.internal.PrefixedNames;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The schema")
class SchemaTest {
  private TestDatabase database;
  private Schema schema;

  @BeforeEach
  void open() {
    database = TestDatabase.open();
    schema = database.schema("outbox_");
  }

  @AfterEach
  void close() {
    if (database != null) {
      database.close();
    }
  }

  @Test
  @DisplayName("a collection that was dropped and made anew by a producer is found, and mended")
  void dropped() {
    schema.migrate();
    var whole = database.catalog();
    database.collection("outbox_message").drop();
    database.collection("outbox_message").insertOne(new Document("x", 1));
    assertThatThrownBy(schema::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageContaining("outbox_message")
        .hasMessageContaining("migrate");
    database.collection("outbox_message").deleteMany(new Document());
    schema.migrate();
    schema.verify();
    assertThat(database.catalog()).isEqualTo(whole);
  }

  @Test
  @DisplayName("several processes that migrate an empty database at once all succeed")
  void processesAtOnce() throws Exception {
    List<Process> processes = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        processes.add(
            new ProcessBuilder(
                    System.getProperty("java.home") + "/bin/java",
                    "-cp",
                    System.getProperty("java.class.path"),
                    MigratingProcess.class.getName(),
                    database.server.address(),
                    database.database.getName())
                .inheritIO()
                .start());
      }
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> database.collection("ready").countDocuments() == processes.size());
      database.collection("go").insertOne(new Document());
      for (Process process : processes) {
        assertThat(process.waitFor()).as("how a migration ended, see its output").isZero();
      }
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
    schema.verify();
    database.collection("ready").drop();
    database.collection("go").drop();
    try (TestDatabase alone = TestDatabase.open()) {
      alone.schema("outbox_").migrate();
      assertThat(database.catalog()).isEqualTo(alone.catalog());
    }
    assertThat(database.collection("outbox_bucket").countDocuments()).isEqualTo(64);
  }

  /** Migrates when all are there. */
  static final class MigratingProcess {
    private MigratingProcess() {}

    public static void main(String[] arguments) {
      try (MongoClient client = MongoClients.create(arguments[0])) {
        Schema schema =
            new Schema(
                client, arguments[1], CollectionKind.OUTBOX, new PrefixedNames(null, "outbox_"));
        MongoDatabase database = client.getDatabase(arguments[1]);
        database.getCollection("ready").insertOne(new Document());
        await()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(1))
            .atMost(Duration.ofMinutes(2))
            .until(() -> database.getCollection("go").countDocuments() == 1);
        schema.migrate();
        schema.verify();
      }
    }
  }

  @Test
  @DisplayName("migrating prints nothing: what Liquibase says goes to the log")
  void silent() {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      schema.migrate();
    } finally {
      System.setOut(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  @Test
  @DisplayName("two outboxes with different prefixes live in one database, and apart")
  void twoPrefixes() {
    Schema other = database.schema("billing_");
    schema.migrate();
    assertThatThrownBy(other::verify).isInstanceOf(SchemaException.class);
    other.migrate();
    schema.migrate();
    schema.verify();
    other.verify();
    List<String> names = new ArrayList<>();
    for (String prefix : List.of("billing_", "outbox_")) {
      for (String name :
          List.of(
              "blocked_key",
              "bucket",
              "databasechangelog",
              "dedup",
              "message",
              "pause",
              "schema")) {
        names.add(prefix + name);
      }
    }
    assertThat(database.database.listCollectionNames()).containsExactlyInAnyOrderElementsOf(names);
  }

  @Test
  @DisplayName("the script, run by hand, makes the same collections as Liquibase")
  void byHand() {
    schema.migrate();
    try (TestDatabase other = TestDatabase.open()) {
      Schema byHand = other.schema("outbox_");
      other.run(byHand.ddl());
      byHand.verify();
      byHand.migrate(); // is there already
      assertThat(other.database.listCollectionNames())
          .as("nothing of Liquibase's")
          .containsExactlyInAnyOrderElementsOf(database.catalog().keySet());
      assertThat(other.catalog()).isEqualTo(database.catalog());
      assertThat(other.catalog().get("outbox_message"))
          .contains("\"maxLength\": 255", "binarySize", "\"queue\"", "\"moderate\"");
      assertThat(other.collection("outbox_bucket").find())
          .containsExactlyInAnyOrderElementsOf(database.collection("outbox_bucket").find());
    }
  }

  @Test
  @DisplayName("the script may be run again: what is in use stays, and a newer version too")
  void again() {
    schema.migrate();
    var catalog = database.catalog();
    database.collection("outbox_bucket").updateOne(Filters.eq("_id", 7), Updates.set("token", 42L));
    setVersion(2);
    database.run(schema.ddl());
    assertThat(database.catalog()).isEqualTo(catalog);
    assertThat(database.collection("outbox_bucket").find(Filters.eq("_id", 7)).first())
        .containsEntry("token", 42L);
    assertThat(database.collection("outbox_schema").find().first()).containsEntry("version", 2);
  }

  @Test
  @DisplayName("a collection that a producer made too early gets its validator and its indexes")
  void madeTooEarly() {
    Document early = new Document("_id", 1).append("aggregateType", "order");
    database.collection("outbox_message").insertOne(early);
    schema.migrate();
    assertThat(database.catalog().get("outbox_message")).contains("$jsonSchema", "\"queue\"");
    assertThatThrownBy(() -> database.collection("outbox_message").insertOne(new Document()))
        .hasMessageContaining("failed validation");
    database
        .collection("outbox_message")
        .updateOne(Filters.eq("_id", 1), Updates.set("lastError", "is no message"));
    assertThat(database.collection("outbox_message").find().first())
        .as("what is invalid already can still be settled")
        .containsEntry("lastError", "is no message");
  }

  @Test
  @DisplayName("of an inbox is no outbox's, nor the other way round: neither changes the other")
  void ofTheOther() {
    Schema inbox = database.schema(CollectionKind.INBOX, "inbox_");
    schema.migrate();
    inbox.migrate();
    var catalog = database.catalog();
    assertRefused(
        database.schema(CollectionKind.INBOX, "outbox_"),
        "collection outbox_schema belongs to an outbox, and an inbox needs collections of its own:"
            + " give another prefix, or, when the outbox is meant, leave out --inbox");
    assertRefused(
        database.schema("inbox_"),
        "collection inbox_schema belongs to an inbox, and an outbox needs collections of its own:"
            + " give another prefix, or, when the inbox is meant, add --inbox");
    assertThat(database.catalog()).isEqualTo(catalog);
    for (String collection : List.of("schema", "databasechangelog")) {
      assertThat(database.collection("outbox_" + collection).countDocuments()).isEqualTo(1);
      assertThat(database.collection("inbox_" + collection).countDocuments()).isEqualTo(1);
    }
    schema.verify();
    inbox.verify();
  }

  private void assertRefused(Schema other, String sentence) {
    assertThatThrownBy(other::migrate).isInstanceOf(SchemaException.class).hasMessage(sentence);
    assertThatThrownBy(other::verify).isInstanceOf(SchemaException.class).hasMessage(sentence);
    assertThatThrownBy(() -> other.check(null))
        .isInstanceOf(SchemaException.class)
        .hasMessage(sentence);
  }

  @Test
  @DisplayName("of an inbox that is missing is made with --inbox, which the sentence says")
  void missingInbox() {
    Schema inbox = database.schema(CollectionKind.INBOX, "inbox_");
    assertThatThrownBy(inbox::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessage(
            "there is no collection inbox_schema: migrate the database first (outbox migrate"
                + " --inbox, or migrate() of the store)");
    inbox.migrate();
    database.collection("inbox_schema").updateOne(new Document(), Updates.set("version", -1));
    assertThatThrownBy(inbox::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessage(
            "the schema of inbox_schema has version -1, this library needs 1: migrate the database"
                + " (outbox migrate --inbox, or migrate() of the store)");
    database.collection("inbox_schema").deleteMany(new Document());
    assertThatThrownBy(inbox::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageContaining("db.inbox_schema.insertOne({ _id: \"inbox\", version: 1 })");
  }

  @Test
  @DisplayName("that is newer is left alone by migrate")
  void newer() {
    schema.migrate();
    setVersion(2);
    var catalog = database.catalog();
    database.collection("outbox_bucket").deleteMany(new Document());
    schema.migrate();
    assertThat(database.catalog()).isEqualTo(catalog);
    assertThat(database.collection("outbox_bucket").countDocuments()).isZero();
  }

  private void setVersion(int version) {
    database
        .collection("outbox_schema")
        .updateOne(Filters.eq("_id", "outbox"), Updates.set("version", version));
  }

  @Test
  @DisplayName("that is sharded is refused")
  void sharded() {
    schema.migrate();
    String name = database.database.getName() + ".outbox_message";
    // Nobody but the cluster writes its list of collections, so another database stands for it.
    Schema onCluster = schemaWith(clusterWhoseListIsHere(database.client));
    onCluster.verify();
    database.collection("collections").insertOne(new Document("_id", name + "s"));
    onCluster.verify();
    database
        .collection("collections")
        .insertOne(new Document("_id", name).append("unsplittable", true));
    onCluster.verify();
    database
        .collection("collections")
        .replaceOne(Filters.eq("_id", name), new Document("key", new Document("_id", 1)));
    assertThatThrownBy(onCluster::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessage(
            "collection "
                + name
                + " is sharded, which the outbox's must not be, because each shard counts sequences"
                + " of its own and the messages of a key would be out of order: unshard it"
                + " (sh.unshardCollection, MongoDB 8.0), or migrate another database for the"
                + " outbox");
  }

  @Test
  @DisplayName("counts as not sharded where the user may not ask")
  void mayNotAsk() {
    schema.migrate();
    MongoCommandException unauthorized =
        new MongoCommandException(
            BsonDocument.parse("{ ok: 0, code: 13, errmsg: 'not authorized on config' }"),
            new ServerAddress());
    Schema asUser =
        schemaWith(
            client(
                () -> {
                  throw unauthorized;
                }));
    assertThatCode(asUser::verify).doesNotThrowAnyException();
  }

  private MongoClient clusterWhoseListIsHere(MongoClient client) {
    return client(() -> client.getDatabase(database.database.getName()));
  }

  /** The client, with another database "config". */
  private MongoClient client(Supplier<?> config) {
    return (MongoClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MongoClient.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getDatabase") && arguments[0].equals("config")) {
                return config.get();
              }
              try {
                return method.invoke(database.client, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private Schema schemaWith(MongoClient client) {
    return new Schema(
        client,
        database.database.getName(),
        CollectionKind.OUTBOX,
        new PrefixedNames(null, "outbox_"));
  }

  @Test
  @DisplayName("what MongoDB says against a migration is in the error")
  void migrationFails() {
    database.database.createCollection("outbox_message");
    database
        .collection("outbox_message")
        .createIndex(new Document("other", 1), new IndexOptions().name("queue"));
    assertThatThrownBy(schema::migrate)
        .isInstanceOf(OutboxException.class)
        .hasMessageStartingWith("migration of outbox_* failed: ")
        .hasMessageContaining("queue");
    assertThatThrownBy(schema::verify).isInstanceOf(SchemaException.class);
    database.collection("outbox_message").dropIndex("queue");
    schema.migrate();
    schema.verify();
  }

  @Test
  @DisplayName("without Liquibase is printed, and migrating says what to add")
  void withoutLiquibase() throws Exception {
    List<URL> classPath = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.contains("liquibase")) {
        classPath.add(Path.of(entry).toUri().toURL());
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      @SuppressWarnings("unchecked")
      var without =
          (BiFunction<String, String, List<String>>)
              loader
                  .loadClass(WithoutLiquibase.class.getName())
                  .getDeclaredConstructor()
                  .newInstance();
      assertThat(without.apply(database.server.address(), database.database.getName()))
          .containsExactly(
              schema.ddl(),
              "Liquibase needs the class liquibase/database/Database: add"
                  + " org.liquibase:liquibase-core:4.33.0, the last version under Apache-2.0,"
                  + " org.liquibase.ext:liquibase-mongodb:4.33.0.1, and what they depend on, or run"
                  + " ddl() by hand with mongosh");
    }
  }

  /** Runs where there is no Liquibase: the script, and what migrating says. */
  public static final class WithoutLiquibase implements BiFunction<String, String, List<String>> {
    @Override
    public List<String> apply(String url, String database) {
      try (MongoClient client = MongoClients.create(url)) {
        Schema schema =
            new Schema(client, database, CollectionKind.OUTBOX, new PrefixedNames(null, "outbox_"));
        try {
          schema.migrate();
        } catch (OutboxException e) {
          return List.of(schema.ddl(), e.getMessage());
        }
        return List.of(schema.ddl(), "migrated");
      }
    }
  }
}
