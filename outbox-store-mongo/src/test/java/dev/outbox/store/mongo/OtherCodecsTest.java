package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;
import static com.mongodb.client.model.Updates.set;
import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.outbox.spi.store.Claim;
import java.time.Duration;
import java.util.UUID;
import org.bson.BsonBinary;
import org.bson.Document;
import org.bson.codecs.BsonValueCodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A relay whose client has codecs of its own only")
class OtherCodecsTest extends StoreTests {
  private MongoClient client;
  private MongoOutboxStore other;

  @BeforeAll
  void open() {
    client =
        MongoClients.create(
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(database.server.address()))
                .codecRegistry(CodecRegistries.fromProviders(new BsonValueCodecProvider()))
                .build());
    other = MongoOutboxStore.of(client, database.database.getName());
  }

  @AfterAll
  void close() {
    if (client != null) {
      client.close();
    }
  }

  @Test
  @DisplayName("verifies the schema, and ends the transaction of another that has stopped")
  void works() {
    other.verify();
    database.append(store, TestDatabase.message("k").build());
    MongoCollection<Document> buckets = database.collection("outbox_bucket");
    var bucket = eq("_id", Documents.bucket("k"));
    try (ClientSession stopped = database.client.startSession()) {
      BsonBinary session = stopped.getServerSession().getIdentifier().getBinary("id");
      assertThat(
              buckets
                  .updateOne(
                      bucket,
                      combine(
                          set("claimId", new BsonBinary(UUID.randomUUID())),
                          set("session", session)))
                  .getModifiedCount())
          .isEqualTo(1);
      stopped.startTransaction();
      assertThat(buckets.updateOne(stopped, bucket, inc("fence", 1L)).getModifiedCount())
          .isEqualTo(1);
      Claim claim = other.claim(new Claim.Request("test", 10, 1_000_000, Duration.ofSeconds(10)));
      assertThat(claim.messages()).hasSize(1);
    }
  }
}
