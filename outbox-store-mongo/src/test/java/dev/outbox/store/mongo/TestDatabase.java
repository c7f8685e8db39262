package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.outbox.OutboxMessage;
import dev.outbox.embedded.TestServer;
import dev.outbox.store.core.internal.PrefixedNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.Document;

/** A database of its own, dropped at the end. */
final class TestDatabase implements AutoCloseable {
  private static final Pattern COMMAND = Pattern.compile("(?ms)^db\\.runCommand\\((.*?)\\);$");

  final TestServer server;
  final MongoClient client;
  final MongoDatabase database;

  private TestDatabase(TestServer server) {
    this.server = server;
    client = MongoClients.create(server.address());
    database = client.getDatabase("outbox_test_" + UUID.randomUUID().toString().substring(0, 8));
  }

  /** One of which somebody is told; the caller closes it. */
  MongoClient client(CommandListener listener) {
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(server.address()))
            .addCommandListener(listener)
            .build());
  }

  /** One that tells each command before it is sent; the caller closes it. */
  MongoClient telling(Consumer<CommandStartedEvent> command) {
    return client(
        new CommandListener() {
          @Override
          public void commandStarted(CommandStartedEvent event) {
            command.accept(event);
          }
        });
  }

  /** Skips the test when there is no server. */
  static TestDatabase open() {
    return new TestDatabase(TestServer.mongo());
  }

  Schema schema(String prefix) {
    return schema(CollectionKind.OUTBOX, prefix);
  }

  Schema schema(CollectionKind contents, String prefix) {
    return new Schema(client, database.getName(), contents, new PrefixedNames(null, prefix));
  }

  /** Of the archive of the outbox with this prefix. */
  ArchiveSchema archiveSchema(String prefix, Duration retention) {
    return new ArchiveSchema(
        client, database.getName(), new PrefixedNames(null, prefix).archive(), retention);
  }

  MongoCollection<Document> collection(String name) {
    return database.getCollection(name);
  }

  /** In a transaction of its own. */
  void append(MongoOutboxStore store, OutboxMessage... messages) {
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      assertThat(store.append(session, List.of(messages)).duplicates()).isEmpty();
      session.commitTransaction();
    }
  }

  static OutboxMessage.Builder message(String key) {
    return OutboxMessage.builder()
        .aggregate("order", key)
        .partitionKey(key)
        .eventType("OrderChanged")
        .payload("{}");
  }

  /** A message by plain insertOne, with nothing but what is required. */
  static Document least(String aggregateId) {
    return new Document("seq", new BsonTimestamp())
        .append("aggregateType", "order")
        .append("aggregateId", aggregateId)
        .append("eventType", "OrderChanged")
        .append("payload", "{}");
  }

  /** The commands of a script for mongosh. */
  static List<BsonDocument> commands(String script) {
    List<BsonDocument> commands = new ArrayList<>();
    Matcher matcher = COMMAND.matcher(script);
    while (matcher.find()) {
      commands.add(BsonDocument.parse(matcher.group(1)));
    }
    return commands;
  }

  /** Runs a script's commands, as mongosh would. */
  void run(String script) {
    commands(script).forEach(database::runCommand);
  }

  /** The names of all collections but Liquibase's, with their options and indexes. */
  Map<String, String> catalog() {
    Map<String, String> catalog = new TreeMap<>();
    for (Document collection : database.listCollections()) {
      String name = collection.getString("name");
      if (!name.contains("databasechangelog")) {
        catalog.put(
            name, collection.get("options", Document.class).toJson() + "\n" + indexes(name));
      }
    }
    return catalog;
  }

  private String indexes(String collection) {
    List<String> indexes = new ArrayList<>();
    for (Document index : collection(collection).listIndexes()) {
      index.remove("ns");
      indexes.add(index.toJson());
    }
    indexes.sort(null);
    return String.join("\n", indexes);
  }

  @Override
  public void close() {
    database.drop();
    client.close();
    server.close();
  }
}
