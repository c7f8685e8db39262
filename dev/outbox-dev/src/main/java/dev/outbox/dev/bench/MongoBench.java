package dev.outbox.dev.bench;

import static com.mongodb.client.model.Sorts.ascending;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.cli.Address;
import dev.outbox.dev.bench.BenchDatabase.Backlog;
import dev.outbox.dev.bench.BenchDatabase.LimitWorker;
import dev.outbox.dev.bench.BenchDatabase.Side;
import dev.outbox.dev.database.MongoPlace;
import dev.outbox.dev.database.Place;
import dev.outbox.dev.database.Place.Session;
import dev.outbox.store.mongo.MongoUrl;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/**
 * MongoDB. Where others count rows at the server, here documents are counted at the clients that
 * are counted at all.
 *
 * <p>The limit is what one can do at most with a collection of messages when order, retries,
 * delays, dead letters and that two workers do not take the same are of no interest. The oldest by
 * the index that each collection has anyway, in one reply; then one deletion by their ids; no
 * transaction. All fields that a publisher gets are decoded, and nothing is made of them.
 */
final class MongoBench extends BenchDatabase<ClientSession> {
  private static final int FILL_AT_ONCE = 1_000;
  private static final String BUSINESS = "business";

  private final MongoUrl url;
  private final MongoPlace admin;
  private final Map<String, LongAdder> documents = new ConcurrentHashMap<>();

  MongoBench(Address own) {
    super(own);
    url = MongoUrl.of(own.url());
    admin = place("admin", 2, null);
  }

  private MongoPlace place(String role, int connections, @Nullable WorkCounter counter) {
    Address named = new Address(url.named(schema() + "_" + role).text(), "", "");
    return new MongoPlace(
        named,
        settings -> {
          if (!role.equals("admin")) {
            settings.applyToConnectionPoolSettings(
                pool -> pool.minSize(connections).maxSize(connections));
          }
          if (counter != null) {
            settings.addCommandListener(new CommandWatch(counter, documents));
          }
        });
  }

  @Override
  String schema() {
    return url.database();
  }

  @Override
  void create() {
    admin.store(Archive.FULL).migrate();
    admin.inbox(null).migrate();
    admin.database().createCollection(BUSINESS);
    admin.database().createCollection(LIMIT);
  }

  @Override
  Map<String, String> describe() {
    MongoDatabase server = admin.client().getDatabase("admin");
    Document hello = server.runCommand(new Document("hello", 1));
    Map<String, String> all = admin.about();
    all.put("members", "" + hello.getList("hosts", String.class, List.of()).size());
    all.put("round trip of ping", roundTrip(() -> server.runCommand(new Document("ping", 1))));
    return all;
  }

  @Override
  String requests() {
    return "commands";
  }

  /** The driver opens the connections beside the first by itself, at once. */
  @Override
  MongoPlace place(int connections, @Nullable WorkCounter counter) {
    MongoPlace place = place("pool", connections, counter);
    try {
      var unused = place.client().getDatabase("admin").runCommand(new Document("ping", 1));
      return place;
    } catch (MongoException e) {
      place.close();
      throw new IllegalStateException("cannot connect: " + e.getMessage(), e);
    }
  }

  private static Document row() {
    return new Document("customer", "customer-1").append("amount", 1250L);
  }

  private static MongoCollection<Document> in(Place<ClientSession> place, String collection) {
    return ((MongoPlace) place).database().getCollection(collection);
  }

  @Override
  void business(Place<ClientSession> place, ClientSession session) {
    var unused = in(place, BUSINESS).insertOne(session, row());
  }

  @Override
  void bare(Place<ClientSession> place, ClientSession session, List<OutboxMessage> messages) {
    var unused =
        in(place, LIMIT).insertMany(session, messages.stream().map(MongoBench::document).toList());
  }

  /** A message's fields, without those that only our algorithm needs. */
  private static Document document(OutboxMessage message) {
    Document document =
        new Document("id", message.id())
            .append("aggregateType", message.aggregateType())
            .append("aggregateId", message.aggregateId())
            .append("eventType", message.eventType())
            .append("payload", new Binary(message.payload()))
            .append("contentType", message.contentType())
            .append("createdAt", new Date());
    if (message.partitionKey() != null) {
      document.append("partitionKey", message.partitionKey());
    }
    return document;
  }

  @Override
  LimitWorker limitWorker(Place<ClientSession> place, int most) {
    MongoCollection<Document> collection = in(place, LIMIT);
    return () -> {
      List<Object> ids = new ArrayList<>(most);
      collection
          .find()
          .sort(ascending("_id"))
          .limit(most)
          .batchSize(most)
          .forEach(document -> ids.add(document.get("_id")));
      return ids.isEmpty()
          ? 0
          : (int) collection.deleteMany(Filters.in("_id", ids)).getDeletedCount();
    };
  }

  @Override
  void empty(String collection) {
    in(admin, collection).deleteMany(new Document());
  }

  /** Ours by the store itself, which knows the buckets. */
  @Override
  void fill(Side side, Backlog load) {
    try (Session<ClientSession> session = admin.session()) {
      for (long from = 0; from < load.messages(); from += FILL_AT_ONCE) {
        List<OutboxMessage> some = new ArrayList<>();
        for (long n = from; n < Math.min(load.messages(), from + FILL_AT_ONCE); n++) {
          some.add(message(load, n));
        }
        ClientSession transaction = session.begin();
        if (side == Side.OURS) {
          var unused = admin.store().append(transaction, some);
        } else {
          bare(admin, transaction, some);
        }
        session.commit();
      }
    }
  }

  private static OutboxMessage message(Backlog load, long n) {
    OutboxMessage.Builder message =
        OutboxMessage.builder()
            .aggregate("order", Backlog.KEY + (load.keys() == 0 ? n : n % load.keys()))
            .eventType("OrderPlaced")
            .payload(new byte[Backlog.PAYLOAD]);
    if (load.keys() == 0) {
      message.unordered();
    }
    return message.build();
  }

  @Override
  double rows(String collection) {
    LongAdder count = documents.get(collection);
    return count == null ? 0 : count.sum();
  }

  @Override
  void closeOwn() {
    admin.close();
  }

  /**
   * Counts what MongoDB's driver sends, and from the replies the documents that were inserted,
   * updated and deleted, also by transactions that were aborted later. What the pool does by itself
   * is left out, as greetings, logins and the end of sessions.
   */
  private static final class CommandWatch implements CommandListener {
    private static final Set<String> OF_THE_POOL =
        Set.of("hello", "isMaster", "ping", "saslStart", "saslContinue", "endSessions");

    private final WorkCounter counter;
    private final Map<String, LongAdder> documents;
    private final Map<Integer, String> collections = new ConcurrentHashMap<>();

    /**
     * @param documents those written, by collection: they are added there
     */
    private CommandWatch(WorkCounter counter, Map<String, LongAdder> documents) {
      this.counter = counter;
      this.documents = documents;
    }

    @Override
    public void commandStarted(CommandStartedEvent event) {
      String name = event.getCommandName();
      if (!OF_THE_POOL.contains(name)) {
        counter.statements(1);
        counter.roundTrip();
        BsonValue collection = event.getCommand().get(name);
        if (collection != null && collection.isString()) {
          collections.put(event.getRequestId(), collection.asString().getValue());
        }
      }
    }

    @Override
    public void commandSucceeded(CommandSucceededEvent event) {
      String collection = collections.remove(event.getRequestId());
      long written = written(event.getCommandName(), event.getResponse());
      if (collection != null && written > 0) {
        documents.computeIfAbsent(collection, c -> new LongAdder()).add(written);
      }
    }

    @Override
    public void commandFailed(CommandFailedEvent event) {
      collections.remove(event.getRequestId());
    }

    private static long written(String command, BsonDocument reply) {
      return switch (command) {
        case "insert", "delete" -> number(reply, "n");
        case "update" ->
            number(reply, "nModified")
                + (reply.isArray("upserted") ? reply.getArray("upserted").size() : 0);
        case "findAndModify" ->
            reply.isDocument("lastErrorObject")
                ? number(reply.getDocument("lastErrorObject"), "n")
                : 0;
        default -> 0;
      };
    }

    private static long number(BsonDocument reply, String name) {
      return reply.isNumber(name) ? reply.getNumber(name).longValue() : 0;
    }
  }
}
