package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.in;

import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * A relay in a process of its own, which writes down in the database which keys it holds, and what
 * it delivers. Arguments: URL, database, name, seed.
 */
final class RelayProcess {
  private final MongoDatabase database;
  private final String name;
  private final Random random;

  private RelayProcess(MongoDatabase database, String name, long seed) {
    this.database = database;
    this.name = name;
    random = new Random(seed);
  }

  public static void main(String[] args) {
    try (MongoClient client = MongoClients.create(args[0])) {
      MongoOutboxStore store = MongoOutboxStore.of(client, args[1]);
      new RelayProcess(client.getDatabase(args[1]), args[2], Long.parseLong(args[3])).run(store);
    }
  }

  private void run(MongoOutboxStore store) {
    Claim.Request request =
        new Claim.Request(worker(), 1 + random.nextInt(30), 1_000_000, TwoProcessesTest.LEASE);
    Claim claim = store.claim(request);
    while (database.getCollection("stop").countDocuments() == 0) {
      Map<Long, Decision> decisions = publish(claim);
      claim = store.settleAndClaim(claim, decisions, request).next();
    }
    Set<Long> ignored = claim.settle(Map.of());
  }

  /** The same as of the one that was killed before it. */
  private String worker() {
    return name.substring(0, 1);
  }

  private Map<Long, Decision> publish(Claim claim) {
    Set<String> keys = new HashSet<>();
    claim.messages().forEach(message -> keys.add(message.key()));
    keys.forEach(this::hold);
    Map<Long, Decision> decisions = new HashMap<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : claim.messages()) {
      if (stopped.contains(message.key())) {
        continue;
      }
      if (random.nextInt(20) == 0) {
        stopped.add(message.key());
        decisions.put(message.sequence(), Decision.retry(Duration.ofMillis(5), "failed"));
      } else {
        deliver(message);
        decisions.put(message.sequence(), Decision.delivered());
      }
    }
    database.getCollection("held").deleteMany(and(in("_id", keys), eq("by", name)));
    return decisions;
  }

  private void hold(String key) {
    try {
      database.getCollection("held").insertOne(new Document("_id", key).append("by", name));
    } catch (MongoWriteException e) {
      if (isHeldByAKilledOne(key)) {
        hold(key);
        return;
      }
      database
          .getCollection("violations")
          .insertOne(new Document("key", key).append("by", name).append("error", e.getMessage()));
    }
  }

  /**
   * The last command of one that was killed may be carried out after all that it held was freed.
   */
  private boolean isHeldByAKilledOne(String key) {
    for (Document killed : database.getCollection("killed").find()) {
      Bson its = and(eq("_id", key), eq("by", killed.getString("_id")));
      if (database.getCollection("held").deleteOne(its).getDeletedCount() > 0) {
        return true;
      }
    }
    return false;
  }

  /** The server gives each its place in time. */
  private void deliver(StoredMessage message) {
    database
        .getCollection("delivered")
        .insertOne(
            new Document("at", new BsonTimestamp())
                .append("key", message.key())
                .append("number", Integer.parseInt(message.message().payloadAsString())));
  }
}
