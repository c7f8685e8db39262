package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.ServerAddress;
import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.core.internal.PrefixedNames;
import org.bson.BsonDocument;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An error of the driver")
class ErrorsTest {

  private static OutboxException translated(MongoException e) {
    return translated(CollectionKind.INBOX, e);
  }

  private static OutboxException translated(CollectionKind contents, MongoException e) {
    return new Errors(contents, new PrefixedNames(null, "x_")).translate(e);
  }

  private static MongoException refused(int code) {
    return new MongoCommandException(
        BsonDocument.parse("{ ok: 0, code: %d, errmsg: 'no' }".formatted(code)),
        new ServerAddress());
  }

  @Test
  @DisplayName("tells the server's end of an operation from a network that is gone")
  void timeouts() {
    assertThat(
            translated(
                new MongoOperationTimeoutException(
                    "too long", new MongoExecutionTimeoutException(50, "MaxTimeMSExpired"))))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith("MongoDB ended the operation, as for another transaction, ");
    assertThat(
            translated(
                new MongoOperationTimeoutException(
                    "too long",
                    new MongoSocketReadTimeoutException(
                        "no answer", new ServerAddress(), new RuntimeException()))))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith("no connection to MongoDB: ");
  }

  @Test
  @DisplayName("takes a disk that is full for what may pass, as on other databases")
  void diskIsFull() {
    assertThat(translated(refused(14031)))
        .isInstanceOf(TransientOutboxException.class)
        .hasMessageStartingWith("MongoDB has no disk space left for this, free some: ");
  }

  @Test
  @DisplayName("names what it is about: an outbox or an inbox")
  void ofWhich() {
    assertThat(translated(CollectionKind.OUTBOX, refused(13)))
        .hasMessageContaining("the role that outbox grants prints: ");
    assertThat(translated(CollectionKind.INBOX, refused(13)))
        .hasMessageContaining("the role that outbox grants --inbox prints: ");
    assertThat(translated(CollectionKind.OUTBOX, refused(20)))
        .hasMessageContaining("; the outbox needs transactions, ");
    assertThat(translated(CollectionKind.INBOX, refused(20)))
        .hasMessageContaining("; the inbox needs transactions, ");
  }
}
