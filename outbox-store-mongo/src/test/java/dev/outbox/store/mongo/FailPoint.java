package dev.outbox.store.mongo;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.outbox.OutboxException;
import java.util.List;
import org.bson.Document;
import org.bson.types.ObjectId;

/**
 * The server's fail point {@code failCommand}, for the commands of clients with one application
 * name. There is one for the whole server: who sets it must be the only one at that time.
 */
final class FailPoint {
  /** The server has one, for all clients. */
  private static final Object ONE_FAIL_POINT = new Object();

  private static final int COMMAND_NOT_FOUND = 59;
  private static final int UNAUTHORIZED = 13;

  private final MongoClient admin;
  private final String application;

  /**
   * @param admin whose commands do not fail
   */
  FailPoint(MongoClient admin, String application) {
    this.admin = admin;
    this.application = application;
  }

  /** Skips the test where the server has no fail points. */
  void assumeThere() {
    try {
      off();
    } catch (MongoCommandException e) {
      assumeTrue(
          e.getErrorCode() != COMMAND_NOT_FOUND && e.getErrorCode() != UNAUTHORIZED,
          () -> "this server has no fail points (--setParameter enableTestCommands=1)");
      throw e;
    }
  }

  /**
   * Whether it can lose a reply, which a mongod cannot.
   *
   * @param client whose commands fail
   */
  boolean losesReplies(MongoClient client, String database) {
    Document probe = new Document("_id", new ObjectId());
    set(List.of("insert"), 1, Faults.Fault.errorAfter(UNAUTHORIZED).data());
    try {
      boolean unused = probes(client, database).insertOne(probe) == null;
    } catch (MongoCommandException e) {
      // as it was asked to
    } finally {
      off();
    }
    return probes(admin, database).countDocuments(probe) == 1;
  }

  /**
   * Runs work whose next command of this name is done, and whose reply is lost, by an error that is
   * no answer to whether it was done: one that is tried again costs seconds. Skips the test where a
   * server cannot do that.
   *
   * @param client whose commands fail
   */
  void losingTheReply(MongoClient client, String database, String command, Runnable work) {
    synchronized (ONE_FAIL_POINT) {
      assumeThere();
      assumeTrue(losesReplies(client, database), "a mongod cannot lose a reply");
      set(List.of(command), 1, Faults.Fault.errorAfter(UNAUTHORIZED).data());
      try {
        work.run();
      } catch (OutboxException e) {
        return;
      } finally {
        off();
      }
    }
    throw new IllegalStateException("no %s lost its reply".formatted(command));
  }

  /** Runs work, while nobody else sets the fail point. Skips the test where there is none. */
  void alone(Runnable work) {
    synchronized (ONE_FAIL_POINT) {
      assumeThere();
      try {
        work.run();
      } finally {
        off();
      }
    }
  }

  private static MongoCollection<Document> probes(MongoClient client, String database) {
    return client.getDatabase(database).getCollection("fault_probe");
  }

  /**
   * The next of these commands fail.
   *
   * @param times how many
   * @param how what the fail point does
   */
  void set(List<String> commands, int times, Document how) {
    set(new Document("times", times), commands, how);
  }

  /** Until {@link #off}, this command of any client is refused. */
  void refuse(String command, int code) {
    configure("alwaysOn", new Document("failCommands", List.of(command)).append("errorCode", code));
  }

  /** Nothing fails any more. */
  void off() {
    configure("off", new Document());
  }

  private void set(Object mode, List<String> commands, Document how) {
    configure(
        mode, new Document(how).append("failCommands", commands).append("appName", application));
  }

  private void configure(Object mode, Document data) {
    Document unused =
        admin
            .getDatabase("admin")
            .runCommand(
                new Document("configureFailPoint", "failCommand")
                    .append("mode", mode)
                    .append("data", data));
  }
}
