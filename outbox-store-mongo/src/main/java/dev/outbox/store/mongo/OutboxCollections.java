package dev.outbox.store.mongo;

import static com.mongodb.client.model.Projections.include;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.PrefixedNames;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.bson.Document;
import org.bson.codecs.Codec;
import org.bson.codecs.configuration.CodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.bson.types.Binary;
import org.jspecify.annotations.Nullable;

/**
 * The collections, read and written in one way whatever the client's own settings are: on the
 * primary, as plain documents. Outside a transaction a write waits for no other member; what it
 * wrote is made durable by the majority commit of the transaction that follows it.
 */
record OutboxCollections(
    MongoCollection<Document> message,
    MongoCollection<Document> bucket,
    MongoCollection<Document> blockedKey,
    MongoCollection<Document> dedup,
    MongoCollection<Document> pause) {

  static final Bson IN_ANY_BUCKET =
      Filters.in("bucket", IntStream.range(0, Database.BUCKETS).boxed().toList());

  static OutboxCollections of(MongoClient client, String database, PrefixedNames names) {
    MongoDatabase in = in(client, database);
    return new OutboxCollections(
        in.getCollection(names.table("message")),
        in.getCollection(names.table("bucket")),
        in.getCollection(names.table("blocked_key")),
        in.getCollection(names.table("dedup")),
        in.getCollection(names.table("pause")));
  }

  /** The driver has it since version 5.3. */
  private static final String VECTOR = "org.bson.BinaryVector";

  /**
   * A vector is binary data like other: what is none, but is said to be one, cannot be read (C7).
   */
  private static final CodecRegistry CODECS =
      CodecRegistries.fromRegistries(
          CodecRegistries.fromProviders(
              new CodecProvider() {
                @Override
                @SuppressWarnings("unchecked")
                public <T> @Nullable Codec<T> get(Class<T> type, CodecRegistry registry) {
                  return type.getName().equals(VECTOR)
                      ? (Codec<T>) registry.get(Binary.class)
                      : null;
                }
              }),
          MongoClientSettings.getDefaultCodecRegistry());

  /** The database, as its collections are read and written here. */
  static MongoDatabase in(MongoClient client, String database) {
    return client
        .getDatabase(database)
        .withCodecRegistry(CODECS)
        .withReadPreference(ReadPreference.primary())
        .withReadConcern(ReadConcern.LOCAL)
        .withWriteConcern(WriteConcern.W1);
  }

  /** The client's own time limit has the way to the server in it, and the wait for a connection. */
  private static final long WAY_MILLIS = 1_000;

  /**
   * For an operation with a time limit of its own: a client with one for all does not send another.
   */
  static MongoCollection<Document> within(MongoCollection<Document> collection, long millis) {
    return collection.getTimeout(TimeUnit.MILLISECONDS) == null
        ? collection
        : collection.withTimeout(millis + WAY_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Filters by a field where a value is asked for. */
  static void add(List<Bson> filters, String field, @Nullable Object value) {
    if (value != null) {
      filters.add(Filters.eq(field, value));
    }
  }

  /** Those of the dead letters that halt their keys, by their sequences. */
  Set<Object> halting(ClientSession session, List<Document> letters) {
    Set<Object> halting = new HashSet<>();
    if (!letters.isEmpty()) {
      blockedKey
          .find(
              session, Filters.in("haltedBy", letters.stream().map(one -> one.get("seq")).toList()))
          .projection(include("haltedBy"))
          .forEach(key -> halting.add(key.get("haltedBy", Object.class)));
    }
    return halting;
  }

  /** Of each document, those of another collection whose field is as its own, through stages. */
  static Bson lookup(
      MongoCollection<Document> from,
      String localField,
      String foreignField,
      List<? extends Bson> stages,
      String as) {
    return new Document(
        "$lookup",
        new Document("from", from.getNamespace().getCollectionName())
            .append("localField", localField)
            .append("foreignField", foreignField)
            .append("pipeline", stages)
            .append("as", as));
  }
}
