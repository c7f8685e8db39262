package dev.outbox.store.mongo;

import static java.util.Objects.requireNonNull;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.OutboxMessage;
import dev.outbox.store.core.BucketStore;
import dev.outbox.store.core.Names;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;

/** The outbox on MongoDB. */
public final class MongoOutboxStore extends BucketStore<ClientSession, MongoTransaction> {
  private final Schema schema;
  private final Errors errors;
  private final Append append;

  private MongoOutboxStore(Parts parts, Duration dedupWindow) {
    super(parts.statements(), parts.transactions(), dedupWindow);
    schema = parts.schema();
    errors = parts.errors();
    append = new Append(parts.collections(), parts.clock(), parts.errors(), dedupWindow);
  }

  /** What it is put together from. */
  private record Parts(
      OutboxCollections collections,
      Errors errors,
      Schema schema,
      ServerClock clock,
      MongoStatements statements,
      MongoTransactions transactions) {

    static Parts of(MongoClient client, String database, Names names) {
      OutboxCollections collections = OutboxCollections.of(client, database, names);
      Errors errors = new Errors(names);
      Schema schema = new Schema(client, database, names);
      ServerClock clock = new ServerClock(collections.schema(), schema::check);
      return new Parts(
          collections,
          errors,
          schema,
          clock,
          new MongoStatements(client, collections, clock),
          new MongoTransactions(client, errors));
    }
  }

  /** A store with the default names, for relays and for appending. */
  public static MongoOutboxStore of(MongoClient client, String database) {
    return builder(client, database).build();
  }

  public static Builder builder(MongoClient client, String database) {
    return new Builder(client, database);
  }

  @Override
  public Set<UUID> append(ClientSession transaction, List<OutboxMessage> messages) {
    return append.append(transaction, messages);
  }

  @Override
  protected void migrateSchema() {
    translated(schema::migrate);
  }

  @Override
  public String ddl() {
    return schema.ddl();
  }

  @Override
  protected void checkSchema() {
    translated(schema::verify);
  }

  private void translated(Runnable work) {
    try {
      work.run();
    } catch (MongoException e) {
      throw errors.translate(e);
    }
  }

  @Override
  public OptionalInt maxConnections() {
    return OptionalInt.empty();
  }

  /**
   * For mongosh: roles of which one may append and nothing else, and another be a relay.
   *
   * @param producer a plain name
   * @param relay a plain name
   */
  public String grants(String producer, String relay) {
    return schema.grants(producer, relay);
  }

  /** Not safe for use by many threads. */
  public static final class Builder {
    private final MongoClient client;
    private final String database;
    private String prefix = Names.DEFAULT_PREFIX;
    private Duration dedupWindow = DEFAULT_DEDUP_WINDOW;

    private Builder(MongoClient client, String database) {
      this.client = requireNonNull(client, "client");
      this.database = requireNonNull(database, "database");
    }

    public Builder prefix(String prefix) {
      this.prefix = prefix;
      return this;
    }

    public Builder dedupWindow(Duration dedupWindow) {
      this.dedupWindow = dedupWindow;
      return this;
    }

    public MongoOutboxStore build() {
      return new MongoOutboxStore(Parts.of(client, database, new Names(null, prefix)), dedupWindow);
    }
  }
}
