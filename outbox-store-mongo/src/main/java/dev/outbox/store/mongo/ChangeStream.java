package dev.outbox.store.mongo;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Projections;
import dev.outbox.spi.store.OutboxStore.WakeUps;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * Listens for inserted messages, in a thread of its own. What comes between two streams is not
 * asked for: the relay polls anyway.
 */
final class ChangeStream implements WakeUps {

  /** Without the messages themselves. */
  private static final List<Bson> INSERTS =
      List.of(
          Aggregates.match(Filters.eq("operationType", "insert")),
          Aggregates.project(Projections.include("_id")));

  private static final long AWAIT_MILLIS = 500;
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final MongoCollection<Document> messages;
  private final Runnable wake;
  private final Consumer<MongoException> failed;
  private final Thread thread;
  private final CountDownLatch closing = new CountDownLatch(1);
  private volatile boolean closed;

  ChangeStream(MongoCollection<Document> messages, Runnable wake, Consumer<MongoException> failed) {
    this.messages = messages;
    this.wake = wake;
    this.failed = failed;
    thread = new Thread(this::listen, "outbox-change-stream");
    thread.setDaemon(true);
    thread.start();
  }

  private void listen() {
    while (!closed) {
      try {
        follow();
      } catch (MongoInterruptedException e) {
        return; // closed
      } catch (MongoException e) {
        if (!closed) {
          failed.accept(e);
        }
      }
      pause();
    }
  }

  private void follow() {
    try (MongoCursor<BsonDocument> inserts =
        messages
            .withReadConcern(ReadConcern.MAJORITY) // the only one that streams may have
            .watch(INSERTS)
            .maxAwaitTime(AWAIT_MILLIS, TimeUnit.MILLISECONDS)
            .withDocumentClass(BsonDocument.class)
            .cursor()) {
      // Where the collection is dropped the server ends the stream, and nothing would come any
      // more.
      while (!closed && inserts.getServerCursor() != null) {
        if (inserts.tryNext() != null) {
          wake.run();
        }
      }
    }
  }

  private void pause() {
    try {
      boolean ignored = closing.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      closed = true;
    }
  }

  /** Lets the stream be closed on the server too, as long as that answers. */
  @Override
  public void close() {
    closed = true;
    closing.countDown();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.interrupt();
  }
}
