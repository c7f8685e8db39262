package dev.outbox.dev.demo;

import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Updates.combine;
import static com.mongodb.client.model.Updates.inc;

import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import dev.outbox.Outbox;
import dev.outbox.OutboxMessage;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import org.bson.Document;

/**
 * With MongoDB's driver. Who changes an order while another transaction has changed it gets a write
 * conflict, and {@code withTransaction} begins anew.
 */
public final class MongoOrderService implements OrderService {
  static final TransactionOptions TRANSACTION =
      TransactionOptions.builder()
          .readConcern(ReadConcern.SNAPSHOT)
          .writeConcern(WriteConcern.MAJORITY)
          .build();

  private final MongoClient client;
  private final Outbox<ClientSession> outbox;
  private final MongoCollection<Document> orders;

  /**
   * @param orders documents with a version and an amount
   */
  public MongoOrderService(
      MongoClient client, Outbox<ClientSession> outbox, MongoCollection<Document> orders) {
    this.client = client;
    this.outbox = outbox;
    this.orders = orders;
  }

  @Override
  public void create(int count) {
    orders.insertMany(
        IntStream.range(0, count)
            .mapToObj(
                n -> new Document("_id", "order-" + n).append("version", 0L).append("amount", 0L))
            .toList());
  }

  @Override
  public void add(
      String order, int amount, boolean card, LongFunction<List<OutboxMessage>> messages)
      throws CardDeclined {
    try (ClientSession session = client.startSession()) {
      boolean paid =
          session.withTransaction(
              () -> {
                long version = change(session, order, amount);
                var duplicates = outbox.append(session, messages.apply(version));
                if (!card) {
                  session.abortTransaction();
                }
                return card;
              },
              TRANSACTION);
      if (!paid) {
        throw new CardDeclined(order);
      }
    }
  }

  /** Returns the new version, which is nobody else's to change before the commit. */
  private long change(ClientSession session, String order, int amount) {
    Document changed =
        orders.findOneAndUpdate(
            session,
            eq("_id", order),
            combine(inc("version", 1L), inc("amount", (long) amount)),
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER));
    if (changed == null) {
      throw new IllegalStateException("there is no order " + order);
    }
    return changed.getLong("version");
  }
}
