package dev.outbox.dev.bench;

import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Counts what MongoDB's driver sends, and from the replies the documents that were inserted,
 * updated and deleted, also by transactions that were aborted later. What the pool does by itself
 * is left out, as greetings, logins and the end of sessions.
 */
final class CommandWatch implements CommandListener {
  private static final Set<String> OF_THE_POOL =
      Set.of("hello", "isMaster", "ping", "saslStart", "saslContinue", "endSessions");

  private final WorkCounter counter;
  private final Map<String, LongAdder> documents;
  private final Map<Integer, String> collections = new ConcurrentHashMap<>();

  /**
   * @param documents those written, by collection: they are added there
   */
  CommandWatch(WorkCounter counter, Map<String, LongAdder> documents) {
    this.counter = counter;
    this.documents = documents;
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    String name = event.getCommandName();
    if (!OF_THE_POOL.contains(name)) {
      counter.statement(name);
      counter.roundTrip();
      BsonValue collection = event.getCommand().get(name);
      if (collection != null && collection.isString()) {
        collections.put(event.getRequestId(), collection.asString().getValue());
      }
    }
  }

  @Override
  public void commandSucceeded(CommandSucceededEvent event) {
    String collection = collections.remove(event.getRequestId());
    long written = written(event.getCommandName(), event.getResponse());
    if (collection != null && written > 0) {
      documents.computeIfAbsent(collection, c -> new LongAdder()).add(written);
    }
  }

  @Override
  public void commandFailed(CommandFailedEvent event) {
    collections.remove(event.getRequestId());
  }

  private static long written(String command, BsonDocument reply) {
    return switch (command) {
      case "insert", "delete" -> number(reply, "n");
      case "update" ->
          number(reply, "nModified")
              + (reply.isArray("upserted") ? reply.getArray("upserted").size() : 0);
      case "findAndModify" ->
          reply.isDocument("lastErrorObject")
              ? number(reply.getDocument("lastErrorObject"), "n")
              : 0;
      default -> 0;
    };
  }

  private static long number(BsonDocument reply, String name) {
    return reply.isNumber(name) ? reply.getNumber(name).longValue() : 0;
  }
}
