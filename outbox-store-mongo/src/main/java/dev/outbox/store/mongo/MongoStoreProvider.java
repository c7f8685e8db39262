package dev.outbox.store.mongo;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.connection.ServerDescription;
import dev.outbox.PermanentOutboxException;
import dev.outbox.spi.store.InboxStore;
import dev.outbox.spi.store.StoreProvider;
import dev.outbox.store.core.internal.Unreachable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.bson.Document;

/**
 * Opens the store of a URL of MongoDB. The URL names the database in its path, so there is no
 * schema beside it.
 */
public final class MongoStoreProvider implements StoreProvider {
  /** How long to look for a primary, unless the URL says so. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** The wire version of MongoDB 6.0. */
  private static final int OLDEST = 17;

  private static final int UNAUTHORIZED = 13;

  @Override
  public String name() {
    return "mongo";
  }

  @Override
  public String exampleUrl() {
    return "mongodb://host:27017/name?replicaSet=rs0";
  }

  @Override
  public List<String> urlPrefixes() {
    return MongoUrl.BEGIN;
  }

  @Override
  public Opened open(Settings settings) {
    if (settings.schema() != null) {
      throw new IllegalArgumentException(
          "a schema is given, %s, and MongoDB has none: put the database into the URL, as %s"
              .formatted(settings.schema(), exampleUrl().replace("name", settings.schema())));
    }
    MongoUrl url = url(settings);
    if (url.database().isEmpty()) {
      throw new IllegalArgumentException(
          "the URL %s names no database: put that of the outbox into its path, as %s"
              .formatted(settings.url(), exampleUrl()));
    }
    MongoClient client = client(settings, url);
    try {
      MongoOutboxStore.Builder store =
          MongoOutboxStore.builder(client, url.database()).prefix(settings.prefix());
      if (settings.dedupWindow() != null) {
        store.dedupWindow(settings.dedupWindow());
      }
      return new OpenedByMongo(settings, url, client, store.history(settings.history()).build());
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private static MongoUrl url(Settings settings) {
    MongoUrl url;
    try {
      url = MongoUrl.of(settings.url()).as(settings.user(), settings.password());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the URL %s cannot be read: %s".formatted(settings.url(), e.getMessage()), e);
    }
    String user = url.userWithoutPassword();
    if (user != null) {
      throw new PasswordMissingException("the user %s has no password".formatted(user), null);
    }
    return url;
  }

  private static MongoClient client(Settings settings, MongoUrl url) {
    try {
      MongoClientSettings.Builder builder =
          MongoClientSettings.builder()
              .applyToClusterSettings(
                  cluster ->
                      cluster.serverSelectionTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
              .applyConnectionString(url.connection());
      if (settings.connections() > 1) {
        builder.applyToConnectionPoolSettings(pool -> pool.maxSize(settings.connections()));
      }
      return MongoClients.create(builder.build());
    } catch (IllegalArgumentException | MongoException e) {
      throw new PermanentOutboxException(
          "the URL %s cannot be used: %s".formatted(settings.url(), e.getMessage()), e);
    }
  }

  private record OpenedByMongo(
      Settings settings, MongoUrl url, MongoClient client, MongoOutboxStore store)
      implements Opened {

    @Override
    public Optional<InboxStore<?>> inbox(String prefix) {
      return Optional.of(MongoInboxStore.builder(client, url.database()).prefix(prefix).build());
    }

    @Override
    public void check() {
      MongoDatabase admin = client.getDatabase("admin");
      try {
        checkServer(admin.runCommand(new Document("hello", 1)));
        // A greeting is for everybody; this is not.
        var unused = admin.runCommand(new Document("listDatabases", 1).append("nameOnly", true));
      } catch (MongoException e) {
        throw new PermanentOutboxException(
            "cannot connect to %s: %s".formatted(settings.url(), reason(e)), e);
      }
    }

    private void checkServer(Document hello) {
      boolean isRouter = "isdbgrid".equals(hello.getString("msg"));
      if (!isRouter && !hello.containsKey("setName")) {
        throw new PermanentOutboxException(
            "%s is a single server, and transactions need a replica set, of one member at least: start it with --replSet rs0 and run rs.initiate() in mongosh once"
                .formatted(settings.url()));
      }
      if (!hello.getBoolean("isWritablePrimary", false)) {
        throw new PermanentOutboxException(
            "%s is not the primary: name the replica set in the URL, as ?replicaSet=%s, so that the primary is found"
                .formatted(settings.url(), hello.getString("setName")));
      }
      if (hello.getInteger("maxWireVersion", OLDEST) < OLDEST) {
        throw new PermanentOutboxException(
            "%s is older than MongoDB 6.0: the outbox needs 6.0".formatted(settings.url()));
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
                refused.getCredential().getUserName(),
                refused.getCredential().getSource(),
                root(e));
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
      String said = String.valueOf(root.getMessage());
      return Unreachable.reason(root).orElse(said);
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
