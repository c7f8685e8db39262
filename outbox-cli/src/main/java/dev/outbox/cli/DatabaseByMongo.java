package dev.outbox.cli;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.connection.ServerDescription;
import com.mongodb.internal.build.MongoDriverVersion;
import dev.outbox.benchmarks.MongoCleanup;
import dev.outbox.benchmarks.MongoUrl;
import dev.outbox.cli.demo.MongoOrderService;
import dev.outbox.cli.demo.OrderService;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.bson.Document;

/**
 * A database of MongoDB. The URL names it, so there are no schemas beside it: what others call a
 * schema is a database here, and gets a URL of its own.
 */
final class DatabaseByMongo implements Database {
  /** How long to look for a primary, unless the URL says so. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** The wire version of MongoDB 6.0. */
  private static final int OLDEST = 17;

  private static final int UNAUTHORIZED = 13;

  private final Address address;
  private final MongoUrl url;
  private final MongoClient client;

  private DatabaseByMongo(Address address, MongoUrl url, MongoClient client) {
    this.address = address;
    this.url = url;
    this.client = client;
  }

  static DatabaseByMongo at(Address address) {
    if (address.schema() != null) {
      throw new Failure(
          "a schema is given, %s, and MongoDB has none: put the database into the URL, as %s"
              .formatted(
                  address.schema(),
                  StoreKind.MONGO.exampleUrl().replace("name", address.schema())));
    }
    MongoUrl url = url(address);
    String user = url.userWithoutPassword();
    if (user != null) {
      throw new Failure.NoPassword(
          "the user %s has no password: %s".formatted(user, DatabaseOptions.GIVE_PASSWORD), null);
    }
    return new DatabaseByMongo(address, url, client(address, url, settings -> settings));
  }

  private static MongoUrl url(Address address) {
    try {
      return MongoUrl.of(address.url()).as(address.user(), address.password());
    } catch (IllegalArgumentException e) {
      throw new Failure("the URL %s cannot be read: %s".formatted(address, e.getMessage()), e);
    }
  }

  private static MongoClient client(
      Address address, MongoUrl url, UnaryOperator<MongoClientSettings.Builder> settings) {
    try {
      ConnectionString connection = url.connection();
      MongoClientSettings.Builder builder =
          MongoClientSettings.builder()
              .applyToClusterSettings(
                  cluster ->
                      cluster.serverSelectionTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
              .applyConnectionString(connection);
      return MongoClients.create(settings.apply(builder).build());
    } catch (IllegalArgumentException | MongoException e) {
      throw new Failure("the URL %s cannot be used: %s".formatted(address, e.getMessage()), e);
    }
  }

  @Override
  public DatabaseByMongo pool(int connections) {
    return new DatabaseByMongo(
        address,
        url,
        client(
            address,
            url,
            settings -> settings.applyToConnectionPoolSettings(pool -> pool.maxSize(connections))));
  }

  @Override
  public void check() {
    MongoDatabase admin = client.getDatabase("admin");
    try {
      checkServer(admin.runCommand(new Document("hello", 1)));
      // A greeting is for everybody; this is not.
      var unused = admin.runCommand(new Document("listDatabases", 1).append("nameOnly", true));
    } catch (MongoException e) {
      throw new Failure("cannot connect to %s: %s".formatted(address, reason(e)), e);
    }
  }

  @Override
  public String server() {
    try {
      Document build = client.getDatabase("admin").runCommand(new Document("buildInfo", 1));
      return "MongoDB %s, by the driver %s"
          .formatted(build.getString("version"), MongoDriverVersion.VERSION);
    } catch (MongoException e) {
      throw new Failure("the server's version cannot be read: " + reason(e), e);
    }
  }

  private void checkServer(Document hello) {
    boolean isRouter = "isdbgrid".equals(hello.getString("msg"));
    if (!isRouter && !hello.containsKey("setName")) {
      throw new Failure(
          "%s is a single server, and transactions need a replica set, of one member at least: start it with --replSet rs0 and run rs.initiate() in mongosh once"
              .formatted(address));
    }
    if (!hello.getBoolean("isWritablePrimary", false)) {
      throw new Failure(
          "%s is not the primary: name the replica set in the URL, as ?replicaSet=%s, so that the primary is found"
              .formatted(address, hello.getString("setName")));
    }
    if (hello.getInteger("maxWireVersion", OLDEST) < OLDEST) {
      throw new Failure("%s is older than MongoDB 6.0: the outbox needs 6.0".formatted(address));
    }
  }

  /** The driver says what it waited for; what the network said stands with each server. */
  private String reason(MongoException e) {
    if (e.getCode() == UNAUTHORIZED && url.connection().getCredential() == null) {
      return "the server wants a user: give one with --user";
    }
    if (e instanceof MongoSecurityException refused) {
      return "it refused the user %s of database %s, check user, password and authSource: %s"
          .formatted(
              refused.getCredential().getUserName(), refused.getCredential().getSource(), root(e));
    }
    if (!(e instanceof MongoTimeoutException)) {
      return root(e);
    }
    List<ServerDescription> servers = client.getClusterDescription().getServerDescriptions();
    String said =
        servers.stream()
            .filter(server -> server.getException() != null)
            .map(server -> "%s: %s".formatted(server.getAddress(), root(server.getException())))
            .distinct()
            .collect(Collectors.joining("; "));
    if (!said.isEmpty()) {
      return said;
    }
    MongoException srv = client.getClusterDescription().getSrvResolutionException();
    if (srv != null) {
      return root(srv);
    }
    String set = url.connection().getRequiredReplicaSetName();
    return set == null
        ? "no primary was found within " + seconds()
        : "no primary of a replica set %s was found within %s: is that its name (rs.status()), and is the server not a single one (then rs.initiate())?"
            .formatted(set, seconds());
  }

  private String seconds() {
    Integer given = url.connection().getServerSelectionTimeout();
    long millis = given == null ? PATIENCE.toMillis() : given;
    return millis % 1_000 == 0 ? millis / 1_000 + " s" : millis + " ms";
  }

  private static String root(Throwable e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    if (root instanceof UnknownHostException) {
      return "unknown host " + root.getMessage();
    }
    return root instanceof ConnectException
        ? root.getMessage() + "; is the server running there?"
        : String.valueOf(root.getMessage());
  }

  @Override
  public BucketStore<?, ?> store(Duration dedupWindow) {
    return outbox(dedupWindow);
  }

  private MongoOutboxStore outbox(Duration dedupWindow) {
    if (url.database().isEmpty()) {
      throw new Failure(
          "the URL %s names no database: put that of the outbox into its path, as %s"
              .formatted(address, StoreKind.MONGO.exampleUrl()));
    }
    try {
      return MongoOutboxStore.builder(client, url.database())
          .prefix(address.prefix())
          .dedupWindow(dedupWindow)
          .build();
    } catch (IllegalArgumentException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public OrderService orderService() {
    return new MongoOrderService(
        client,
        outbox(MongoOutboxStore.DEFAULT_DEDUP_WINDOW),
        client.getDatabase(url.database()).getCollection("demo_order"));
  }

  @Override
  public int schemaVersion() {
    Document found =
        client
            .getDatabase(url.database())
            .getCollection(address.prefix() + "schema")
            .find(new Document("_id", "outbox"))
            .first();
    return found == null ? 0 : found.get("version", Number.class).intValue();
  }

  @Override
  public String grants(String producer, String relay) {
    try {
      return outbox(MongoOutboxStore.DEFAULT_DEDUP_WINDOW).grants(producer, relay);
    } catch (IllegalArgumentException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  /** A database is there as soon as there is something in it. */
  @Override
  public void checkSchema() {}

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
      throw new Failure("the databases cannot be read: " + reason(e), e);
    }
  }

  @Override
  public void removeSchemas(String begin) {
    try {
      MongoCleanup.remove(client, begin);
    } catch (MongoException e) {
      throw new Failure(
          "the databases %s* could not be removed: %s".formatted(begin, e.getMessage()), e);
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
