package dev.outbox.dev.bench;

import static java.util.Objects.requireNonNull;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.internal.build.MongoDriverVersion;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.dev.bench.Cost.ServerWork;
import dev.outbox.store.mongo.MongoInboxStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import dev.outbox.store.mongo.MongoUrl;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.bson.Document;
import org.bson.UuidRepresentation;
import org.jspecify.annotations.Nullable;

/**
 * A database with a name that nobody else uses, on MongoDB. Where others count rows at the server,
 * here documents are counted at the clients that are counted at all.
 */
final class MongoBenchDatabase implements BenchDatabase {
  private static final int FILL_AT_ONCE = 1_000;
  private static final String MESSAGES = "outbox_message";
  private static final String ARCHIVE = "outbox_archive_message";
  private static final String BLOCKED_KEYS = "outbox_blocked_key";

  private final MongoUrl url;
  private final String name;
  private final MongoClient admin;
  private final MongoDatabase database;
  private final MongoOutboxStore store;
  private final Map<String, LongAdder> documents = new ConcurrentHashMap<>();
  private volatile boolean closed;

  private MongoBenchDatabase(MongoUrl url, String name) {
    this.url = url;
    this.name = name;
    admin = MongoClients.create(settings("admin").build());
    database = admin.getDatabase(name);
    store = MongoOutboxStore.builder(admin, name).archive(Archive.FULL).build();
  }

  static MongoBenchDatabase open(String url, String user, String password) {
    MongoBenchDatabase database =
        new MongoBenchDatabase(
            MongoUrl.of(url).as(user, password),
            "outbox_bench_" + UUID.randomUUID().toString().substring(0, 8));
    try {
      database.store.migrate();
      MongoInboxStore.of(database.admin, database.name).migrate();
      database.database.createCollection(MongoAccess.BUSINESS);
      database.database.createCollection(MongoAccess.LIMIT);
      return database;
    } catch (RuntimeException e) {
      database.close();
      throw new IllegalStateException("the collections could not be made: " + e.getMessage(), e);
    }
  }

  static MongoBenchDatabase attach(Map<String, String> address) {
    return new MongoBenchDatabase(
        MongoUrl.of(requireNonNull(address.get("url"))), requireNonNull(address.get("database")));
  }

  @Override
  public Map<String, String> address() {
    return Map.of("url", url.text(), "database", name);
  }

  private MongoClientSettings.Builder settings(String role) {
    return MongoClientSettings.builder()
        .applyConnectionString(url.named(name + "_" + role).connection())
        .uuidRepresentation(UuidRepresentation.STANDARD);
  }

  @Override
  public Map<String, String> describe() {
    MongoDatabase server = admin.getDatabase("admin");
    Document hello = server.runCommand(new Document("hello", 1));
    Map<String, String> all = new LinkedHashMap<>();
    Object version = server.runCommand(new Document("buildInfo", 1)).get("version");
    all.put("database", "MongoDB " + version);
    all.put("driver", "MongoDB Java driver " + MongoDriverVersion.VERSION);
    all.put("members", "" + hello.getList("hosts", String.class, List.of()).size());
    double ping = BenchDatabase.roundTrip(() -> server.runCommand(new Document("ping", 1)));
    all.put("round trip of ping", "%.0f µs".formatted(ping));
    return all;
  }

  @Override
  public String requests() {
    return "commands";
  }

  /** The driver opens the connections beside the first by itself, at once. */
  @Override
  public Access open(int connections, @Nullable WorkCounter counter) {
    MongoClientSettings.Builder settings =
        settings("pool")
            .applyToConnectionPoolSettings(pool -> pool.minSize(connections).maxSize(connections));
    if (counter != null) {
      settings.addCommandListener(new CommandWatch(counter, documents));
    }
    MongoClient client = MongoClients.create(settings.build());
    try {
      var unused = client.getDatabase("admin").runCommand(new Document("ping", 1));
    } catch (MongoException e) {
      client.close();
      throw new IllegalStateException("cannot connect: " + e.getMessage(), e);
    }
    return new MongoAccess(client, name, MongoOutboxStore.of(client, name));
  }

  @Override
  public void empty(Side side) {
    List<String> all =
        side == Side.OURS ? List.of(MESSAGES, BLOCKED_KEYS, ARCHIVE) : List.of(MongoAccess.LIMIT);
    all.forEach(each -> database.getCollection(each).deleteMany(new Document()));
  }

  /** Ours by the store itself, which knows the buckets. */
  @Override
  public void fill(Side side, Load load) {
    try (ClientSession session = admin.startSession()) {
      for (long from = 0; from < load.messages(); from += FILL_AT_ONCE) {
        List<OutboxMessage> some = new ArrayList<>();
        for (long n = from; n < Math.min(load.messages(), from + FILL_AT_ONCE); n++) {
          some.add(message(load, n));
        }
        var unused =
            session.withTransaction(
                () -> {
                  if (side == Side.OURS) {
                    store.append(session, some);
                  } else {
                    MongoLimit.insert(session, database.getCollection(MongoAccess.LIMIT), some);
                  }
                  return true;
                });
      }
    }
  }

  private static OutboxMessage message(Load load, long n) {
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .aggregate("order", Load.KEY + (load.keys() == 0 ? n : n % load.keys()))
            .eventType("OrderPlaced")
            .payload(new byte[Load.PAYLOAD]);
    if (load.keys() == 0) {
      message.unordered();
    }
    return message.build();
  }

  /** There is nothing that would be done in the background. */
  @Override
  public void tidy(Side side) {}

  /** Nor here. */
  @Override
  public void checkpoint() {}

  @Override
  public ServerWork written(Side side) {
    boolean ours = side == Side.OURS;
    return new ServerWork(
        ours ? written(MESSAGES) + written(ARCHIVE) : written(MongoAccess.LIMIT),
        ours ? written("outbox_bucket") : 0,
        ours ? written(BLOCKED_KEYS) : 0,
        JdbcKind.UNKNOWN);
  }

  private long written(String collection) {
    LongAdder count = documents.get(collection);
    return count == null ? 0 : count.sum();
  }

  /** The server ends it after a minute, its default. */
  @Override
  public AutoCloseable pin(Pin pin) {
    ClientSession session = admin.startSession();
    session.startTransaction(
        TransactionOptions.builder()
            .readConcern(ReadConcern.SNAPSHOT)
            .writeConcern(WriteConcern.MAJORITY)
            .build());
    var business = database.getCollection(MongoAccess.BUSINESS);
    switch (pin) {
      case SNAPSHOT -> {
        var unused = business.find(session).first();
      }
      case APPENDER -> store.append(session, List.of(OpenLoad.message(0)));
      case WRITER -> business.insertOne(session, new Document("customer", "pin"));
    }
    return session;
  }

  /** Removes everything, also while a run is under way, as after Ctrl-C. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try (admin) {
      MongoCleanup.remove(admin, name);
    } catch (MongoException e) {
      throw new IllegalStateException(
          "the database %s could not be removed: %s".formatted(name, e.getMessage()), e);
    }
  }
}
