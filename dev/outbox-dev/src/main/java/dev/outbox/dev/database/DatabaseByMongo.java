package dev.outbox.dev.database;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.internal.build.MongoDriverVersion;
import dev.outbox.cli.Address;
import dev.outbox.cli.Failure;
import dev.outbox.cli.Stores;
import dev.outbox.store.mongo.MongoUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.bson.Document;

/**
 * A database of MongoDB. The URL names it, so there are no schemas beside it: what others call a
 * schema is a database here, and gets a URL of its own.
 */
final class DatabaseByMongo implements Database {
  /** Nothing is made in it. */
  private static final String ANY = "outbox";

  private final Address address;
  private final MongoUrl url;
  private final MongoClient client;

  private DatabaseByMongo(Address address, MongoUrl url) {
    this.address = address;
    this.url = url;
    client = MongoClients.create(url.connection());
  }

  static DatabaseByMongo at(Address address) {
    try {
      return new DatabaseByMongo(
          address, MongoUrl.of(address.url()).as(address.user(), address.password()));
    } catch (IllegalArgumentException e) {
      throw new Failure("the URL %s cannot be read: %s".formatted(address, e.getMessage()), e);
    }
  }

  @Override
  public void check() {
    Stores.connect(url.database().isEmpty() ? in(ANY) : address).close();
  }

  @Override
  public String server() {
    try {
      Document build = client.getDatabase("admin").runCommand(new Document("buildInfo", 1));
      return "MongoDB %s, by the driver %s"
          .formatted(build.getString("version"), MongoDriverVersion.VERSION);
    } catch (MongoException e) {
      throw new Failure("the server's version cannot be read: " + e.getMessage(), e);
    }
  }

  /** Sees whether it may. */
  @Override
  public void createSchema(String name) {
    try {
      MongoDatabase database = client.getDatabase(name);
      database.createCollection("outbox");
      database.getCollection("outbox").drop();
    } catch (MongoException e) {
      throw new Failure(
          "no database can be made on this server: %s; give this user the roles readWriteAnyDatabase and dbAdminAnyDatabase"
              .formatted(e.getMessage()),
          e);
    }
  }

  @Override
  public List<String> schemas(String begin) {
    try {
      List<String> names = client.listDatabaseNames().into(new ArrayList<>());
      return names.stream().filter(name -> name.startsWith(begin)).toList();
    } catch (MongoException e) {
      throw new Failure("the databases cannot be read: " + e.getMessage(), e);
    }
  }

  @Override
  public void removeSchemas(String begin) {
    try {
      endSessions(begin);
      schemas(begin).forEach(name -> client.getDatabase(name).drop());
    } catch (MongoException e) {
      throw new Failure(
          "the databases %s* could not be removed: %s".formatted(begin, e.getMessage()), e);
    }
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
  public void close() {
    client.close();
  }
}
