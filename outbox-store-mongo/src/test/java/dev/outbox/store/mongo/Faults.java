package dev.outbox.store.mongo;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A client whose commands fail when asked to, by the server's fail point {@code failCommand}. Which
 * one is to fail is known by its name and how many of that name came before; the fail point is set
 * when the client is about to send it. For one thread.
 */
final class Faults implements CommandListener, AutoCloseable {
  private static final String APPLICATION = "outbox-faults";

  /** The nth command of its name, from 1. */
  record Sent(String command, int nth) {
    @Override
    public String toString() {
      return command + " " + nth;
    }
  }

  /**
   * @param data what the fail point does
   * @param times how often, one after the other
   * @param alsoAborts whether the transaction cannot be aborted either, and stays open
   */
  record Fault(String name, Document data, int times, boolean alsoAborts) {
    static Fault error(int code, int times) {
      return new Fault(
          "error " + code + (times == 1 ? "" : " again and again"),
          new Document("errorCode", code),
          times,
          false);
    }

    static Fault closed(int times, boolean alsoAborts) {
      return new Fault(
          "connection closed before"
              + (times == 1 ? "" : " again and again")
              + (alsoAborts ? ", no abort" : ""),
          new Document("closeConnection", true),
          times,
          alsoAborts);
    }

    /** The command is done; only a test server can do that. */
    static Fault replyLost(int times) {
      return new Fault(
          "connection closed after" + (times == 1 ? "" : " again and again"),
          new Document("closeConnection", true).append("afterExecution", true),
          times,
          false);
    }

    /** As {@link #replyLost}. */
    static Fault errorAfter(int code) {
      return new Fault(
          "error " + code + " after",
          new Document("errorCode", code).append("afterExecution", true),
          1,
          false);
    }

    boolean afterExecution() {
      return data.containsKey("afterExecution");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private final MongoClient admin;
  final FailPoint failPoint;
  final MongoClient client;
  private final Map<String, Integer> counts = new HashMap<>();
  private final List<Sent> sent = new ArrayList<>();
  private final Set<BsonDocument> sessions = new HashSet<>();
  private @Nullable Sent at;
  private @Nullable Fault fault;
  private boolean watching;

  /**
   * @param admin whose commands do not fail
   */
  Faults(MongoClient admin, String url) {
    this.admin = admin;
    failPoint = new FailPoint(admin, APPLICATION);
    client =
        MongoClients.create(
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(url))
                .applicationName(APPLICATION)
                // After an error that tells of an election it asks who is primary, not at leisure.
                .applyToServerSettings(s -> s.minHeartbeatFrequency(1, TimeUnit.MILLISECONDS))
                .addCommandListener(this)
                .build());
  }

  /** From now on commands are counted, and the one that is meant fails. */
  void watch(@Nullable Sent which, @Nullable Fault how) {
    counts.clear();
    sent.clear();
    at = which;
    fault = how;
    watching = true;
  }

  /** Nothing fails any more. Returns what was sent since {@link #watch}. */
  List<Sent> end() {
    watching = false;
    failPoint.off();
    return List.copyOf(sent);
  }

  /** How many sessions its commands had so far. */
  int sessions() {
    return sessions.size();
  }

  /** Whether commands of this name failed again and again. */
  boolean lastAt(String command) {
    return at != null && fault != null && at.command().equals(command) && fault.times() > 1;
  }

  /** Ends the transactions that its client has left open, as if it had been gone for long. */
  void endTransactions() {
    Document unused =
        admin.getDatabase("admin").runCommand(new Document("killSessions", List.copyOf(sessions)));
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    if (event.getCommand().containsKey("lsid")) {
      sessions.add(event.getCommand().getDocument("lsid").clone());
    }
    if (!watching) {
      return;
    }
    String name = event.getCommandName();
    Sent next = new Sent(name, counts.merge(name, 1, Integer::sum));
    sent.add(next);
    if (next.equals(at) && fault != null) {
      configure(name, fault);
    }
  }

  private void configure(String command, Fault how) {
    failPoint.set(
        how.alsoAborts() ? List.of(command, "abortTransaction") : List.of(command),
        how.times(),
        how.data());
  }

  @Override
  public void close() {
    client.close();
  }
}
