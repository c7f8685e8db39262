package dev.outbox.dev.torture;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;

import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.outbox.OutboxMessage;
import dev.outbox.TransientOutboxException;
import dev.outbox.cli.Address;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.store.mongo.MongoInboxStore;
import dev.outbox.store.mongo.MongoOutboxStore;
import dev.outbox.store.mongo.MongoUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A database of MongoDB, as a process uses it. Who locks a key that another transaction has locked
 * gets a write conflict, which passes.
 */
final class MongoPlace implements Place<ClientSession> {
  private static final String EFFECTS = "torture_effect";
  private static final TransactionOptions TRANSACTION =
      TransactionOptions.builder()
          .readConcern(ReadConcern.SNAPSHOT)
          .writeConcern(WriteConcern.MAJORITY)
          .build();

  private static final int TRIES = 10;

  private final MongoClient client;
  private final MongoDatabase database;
  private final MongoOutboxStore store;

  MongoPlace(Address address) {
    MongoUrl url = MongoUrl.of(address.url()).as(address.user(), address.password());
    client = MongoClients.create(url.connection());
    database = client.getDatabase(url.database());
    store = MongoOutboxStore.builder(client, url.database()).prefix(address.prefix()).build();
  }

  private MongoCollection<Document> collection(String name) {
    return database.getCollection(name);
  }

  @Override
  public void create(int keys) {
    store.migrate();
    database.createCollection("torture_work");
    database.createCollection("torture_refused");
    collection("torture_key")
        .insertMany(
            IntStream.range(0, keys)
                .mapToObj(n -> new Document("_id", Place.key(n)).append("last", 0))
                .toList());
  }

  @Override
  public void createInbox() {
    inbox(null).migrate();
    database.createCollection(EFFECTS);
  }

  @Override
  public MongoOutboxStore store() {
    return store;
  }

  @Override
  public MongoInboxStore inbox(@Nullable Duration retention) {
    MongoInboxStore.Builder inbox = MongoInboxStore.builder(client, database.getName());
    return (retention == null ? inbox : inbox.retention(retention)).build();
  }

  @Override
  public boolean run(Doing<ClientSession> doing) {
    try (ClientSession session = client.startSession()) {
      return session.withTransaction(
          () -> {
            boolean good = doing.in(session);
            if (!good) {
              session.abortTransaction();
            }
            return good;
          },
          TRANSACTION);
    }
  }

  @Override
  public void effect(ClientSession session, Enum<?> way, UUID message) {
    var unused =
        collection(EFFECTS)
            .insertOne(
                session, new Document("way", way.name()).append("message", message.toString()));
  }

  @Override
  public List<Effect> effects() {
    return collection(EFFECTS)
        .find()
        .map(one -> new Effect(one.getString("way"), one.getString("message")))
        .into(new ArrayList<>());
  }

  @Override
  public boolean canCommitLater() {
    return false;
  }

  @Override
  public Business begin(Appending<ClientSession> appending) {
    return new InSession(client.startSession(), appending);
  }

  private static <R> R asked(Supplier<R> work) {
    try {
      return work.get();
    } catch (MongoException e) {
      throw new TransientOutboxException(String.valueOf(e.getMessage()), e);
    }
  }

  private final class InSession implements Business {
    private final ClientSession session;
    private final Appending<ClientSession> appending;
    private final List<Uncommitted> appended = new ArrayList<>();

    InSession(ClientSession session, Appending<ClientSession> appending) {
      this.session = session;
      this.appending = appending;
      session.startTransaction(TRANSACTION);
    }

    @Override
    public void commitLater() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int lock(String key) {
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
    public Set<UUID> append(List<OutboxMessage> messages) {
      Uncommitted uncommitted = asked(() -> appending.append(session, messages));
      appended.add(uncommitted);
      return uncommitted.appended().duplicates();
    }

    /** A transaction is taken back as a whole. */
    @Override
    public void appendInVain(List<OutboxMessage> messages) {}

    @Override
    public void appendPlain(OutboxMessage message, int stallMillis) {
      Set<UUID> unused = append(List.of(message));
    }

    private void insert(String collection, Document document) {
      var unused = asked(() -> collection(collection).insertOne(session, document));
    }

    @Override
    public void appended(Work work, @Nullable String dedup) {
      insert(
          "torture_work",
          new Document("_id", work.id().toString())
              .append("name", work.key())
              .append("nth", work.nth())
              .append("kind", work.kind().name())
              .append("dedup", dedup));
    }

    @Override
    public void refused(UUID id, String dedup) {
      insert("torture_refused", new Document("_id", id.toString()).append("dedup", dedup));
    }

    @Override
    public void last(String key, int number) {
      var unused =
          asked(
              () ->
                  collection("torture_key")
                      .updateOne(session, eq("_id", key), set("last", number)));
    }

    @Override
    public void commit() {
      for (int i = 1; !committed(i == TRIES); i++) {}
      appended.forEach(Uncommitted::committed);
    }

    /** Whether that is known: else it is asked for again, which the server understands. */
    private boolean committed(boolean last) {
      try {
        session.commitTransaction();
        return true;
      } catch (MongoException e) {
        if (!last && e.hasErrorLabel(MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL)) {
          return false;
        }
        throw new TransientOutboxException(String.valueOf(e.getMessage()), e);
      }
    }

    @Override
    public void close() {
      try (session) {
        if (session.hasActiveTransaction()) {
          session.abortTransaction();
        }
      }
    }
  }

  @Override
  public void exhaust(long millis) {
    throw new UnsupportedOperationException("MongoDB is not tortured");
  }

  @Override
  public void close() {
    client.close();
  }
}
