package dev.outbox.dev.database;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.internal.build.MongoDriverVersion;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.store.mongo.MongoInboxStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import dev.outbox.store.mongo.MongoUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.bson.Document;
import org.bson.UuidRepresentation;
import org.jspecify.annotations.Nullable;

/**
 * A database of MongoDB. Who locks a key that another transaction has locked gets a write conflict,
 * which passes. The URL names it, so there are no schemas beside it: what others call a schema is a
 * database here, and gets a URL of its own.
 */
final class MongoPlace implements Place<ClientSession> {
  private static final int TRIES = 10;

  /** A database that nothing is made in. */
  private static final String ANY = "outbox";

  private static final TransactionOptions TRANSACTION =
      TransactionOptions.builder()
          .readConcern(ReadConcern.SNAPSHOT)
          .writeConcern(WriteConcern.MAJORITY)
          .build();

  private final Address address;
  private final MongoUrl url;
  private final MongoClient client;

  /** Connects when it is used. */
  MongoPlace(Address address) {
    this.address = address;
    try {
      url = MongoUrl.of(address.url()).as(address.user(), address.password());
      client =
          MongoClients.create(
              MongoClientSettings.builder()
                  .applyConnectionString(url.connection())
                  .uuidRepresentation(UuidRepresentation.STANDARD)
                  .build());
    } catch (IllegalArgumentException e) {
      throw new Failure("the URL %s cannot be read: %s".formatted(address, e.getMessage()), e);
    }
  }

  private MongoCollection<Document> collection(String name) {
    return client.getDatabase(url.database()).getCollection(name);
  }

  @Override
  public void check() {
    Stores.connect(url.database().isEmpty() ? in(ANY) : address).close();
  }

  private static <R> R tried(String problem, Supplier<R> work) {
    try {
      return work.get();
    } catch (MongoException e) {
      throw new TransientOutboxException(problem.formatted(e.getMessage()), e);
    }
  }

  private static <R> R asked(Supplier<R> work) {
    return tried("%s", work);
  }

  @Override
  public Map<String, String> about() {
    Document build =
        tried(
            "the server's version cannot be read: %s",
            () -> client.getDatabase("admin").runCommand(new Document("buildInfo", 1)));
    Map<String, String> about = new LinkedHashMap<>();
    about.put("database", "MongoDB " + build.getString("version"));
    about.put("driver", "MongoDB Java driver " + MongoDriverVersion.VERSION);
    return about;
  }

  /** Sees whether it may. */
  @Override
  public void createSchema(String name) {
    boolean unused =
        tried(
            "no database can be made on this server: %s; give this user the roles readWriteAnyDatabase and dbAdminAnyDatabase",
            () -> {
              client.getDatabase(name).createCollection("outbox");
              client.getDatabase(name).getCollection("outbox").drop();
              return true;
            });
  }

  @Override
  public List<String> schemas(String begin) {
    List<String> names =
        tried(
            "the databases cannot be read: %s",
            () -> client.listDatabaseNames().into(new ArrayList<>()));
    return names.stream().filter(name -> name.startsWith(begin)).toList();
  }

  @Override
  public void removeSchemas(String begin) {
    boolean unused =
        tried(
            "the databases " + begin + "* could not be removed: %s",
            () -> {
              endSessions(begin);
              schemas(begin).forEach(name -> client.getDatabase(name).drop());
              return true;
            });
  }

  /** Not everybody may look for them; then the removal waits until their transactions end. */
  private void endSessions(String begin) {
    MongoDatabase admin = client.getDatabase("admin");
    Document ours =
        new Document("appName", Pattern.compile("^" + begin))
            .append("lsid.id", new Document("$exists", true));
    try {
      List<Document> sessions =
          admin
              .aggregate(
                  List.of(
                      new Document("$currentOp", new Document("idleSessions", true)),
                      new Document("$match", ours)))
              .map(s -> new Document("id", s.get("lsid", Document.class).get("id")))
              .into(new ArrayList<>());
      if (!sessions.isEmpty()) {
        admin.runCommand(new Document("killSessions", sessions));
      }
    } catch (MongoException e) {
      // as above
    }
  }

  @Override
  public Address in(String schema) {
    return new Address(url.in(schema).text(), "", "", null, address.prefix());
  }

  @Override
  public Address named(String name) {
    return new Address(url.named(name).text(), "", "", null, address.prefix());
  }

  @Override
  public MongoOutboxStore store() {
    return MongoOutboxStore.builder(client, url.database()).build();
  }

  @Override
  public MongoInboxStore inbox(@Nullable Duration retention) {
    MongoInboxStore.Builder inbox = MongoInboxStore.builder(client, url.database());
    return (retention == null ? inbox : inbox.retention(retention)).build();
  }

  @Override
  public void create(int keys) {
    store().migrate();
    collection("torture_key")
        .insertMany(
            IntStream.range(0, keys)
                .mapToObj(n -> new Document("_id", Place.key(n)).append("last", 0))
                .toList());
  }

  @Override
  public void createInbox() {
    inbox(null).migrate();
    client.getDatabase(url.database()).createCollection("torture_" + EFFECTS);
  }

  @Override
  public ClientSession open() {
    ClientSession session = asked(client::startSession);
    session.startTransaction(TRANSACTION);
    return session;
  }

  /** Where nobody knows whether it is, it is asked for again, which the server understands. */
  @Override
  public void commit(ClientSession session) {
    for (int tries = 1; ; tries++) {
      try {
        session.commitTransaction();
        return;
      } catch (MongoException e) {
        if (tries == TRIES
            || !e.hasErrorLabel(MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL)) {
          throw new TransientOutboxException(String.valueOf(e.getMessage()), e);
        }
      }
    }
  }

  @Override
  public void end(ClientSession session) {
    try (session) {
      if (session.hasActiveTransaction()) {
        session.abortTransaction();
      }
    }
  }

  @Override
  public void note(ClientSession session, String list, String note) {
    Document document = new Document("note", note);
    var unused = asked(() -> collection("torture_" + list).insertOne(session, document));
  }

  @Override
  public List<String> notes(String list) {
    return collection("torture_" + list)
        .find()
        .map(one -> one.getString("note"))
        .into(new ArrayList<>());
  }

  @Override
  public int lock(ClientSession session, String key) {
    Document found =
        asked(
            () ->
                collection("torture_key")
                    .findOneAndUpdate(session, eq("_id", key), inc("locks", 1)));
    if (found == null) {
      throw new IllegalStateException("there is no " + key);
    }
    return found.getInteger("last");
  }

  @Override
  public void last(ClientSession session, String key, int number) {
    var unused =
        asked(
            () ->
                collection("torture_key").updateOne(session, eq("_id", key), set("last", number)));
  }

  @Override
  public void close() {
    client.close();
  }
}
