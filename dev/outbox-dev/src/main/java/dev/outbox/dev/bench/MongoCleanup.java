package dev.outbox.dev.bench;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.bson.Document;

/** Databases that programs make for themselves, known by how their names begin. */
public final class MongoCleanup {
  private MongoCleanup() {}

  /**
   * Ends what still works in the databases whose names begin so, as after Ctrl-C, and removes them.
   *
   * @param begin plain
   * @throws MongoException when they cannot be removed
   */
  public static void remove(MongoClient client, String begin) {
    try {
      endSessions(client.getDatabase("admin"), begin);
    } catch (MongoException e) {
      // Not everybody may look for them; then the removal waits until their transactions end.
    }
    for (String name : client.listDatabaseNames().into(new ArrayList<>())) {
      if (name.startsWith(begin)) {
        client.getDatabase(name).drop();
      }
    }
  }

  private static void endSessions(MongoDatabase admin, String begin) {
    List<Object> sessions = new ArrayList<>();
    for (Document session :
        admin.aggregate(
            List.of(
                new Document("$currentOp", new Document("idleSessions", true)),
                new Document(
                    "$match",
                    new Document("appName", Pattern.compile("^" + begin))
                        .append("lsid.id", new Document("$exists", true)))))) {
      sessions.add(new Document("id", session.get("lsid", Document.class).get("id")));
    }
    if (!sessions.isEmpty()) {
      admin.runCommand(new Document("killSessions", sessions));
    }
  }
}
