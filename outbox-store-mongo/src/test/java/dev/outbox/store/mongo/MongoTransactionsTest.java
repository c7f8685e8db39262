package dev.outbox.store.mongo;

import static com.mongodb.client.model.Filters.empty;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.outbox.store.core.internal.PrefixedNames;
import dev.outbox.store.core.internal.Transactions;
import java.time.Duration;
import java.util.function.Consumer;
import org.bson.Document;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The transactions of a claim that fails")
class MongoTransactionsTest {
  private static final Duration LEASE = Duration.ofSeconds(10);

  @Test
  @DisplayName("throw nothing over its error when the client was closed meanwhile")
  void closedClient() {
    MongoClient client = MongoClients.create("mongodb://localhost:1"); // it is not asked
    MongoCollection<Document> buckets = client.getDatabase("shop").getCollection("bucket");
    Errors errors = new Errors(CollectionKind.OUTBOX, new PrefixedNames(null, "outbox_"));
    Transactions<MongoTransaction> ofClaim = new MongoTransactions(client, errors).forClaim();
    Consumer<MongoTransaction> giveBack = own -> buckets.deleteMany(own.session(), empty());
    boolean ignored =
        ofClaim.run(
            LEASE,
            own -> {
              own.whenClaimFails(giveBack);
              return true;
            });
    client.close();
    assertThatCode(ofClaim::abandon).doesNotThrowAnyException();
  }
}
