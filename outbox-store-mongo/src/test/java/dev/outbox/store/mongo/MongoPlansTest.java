package dev.outbox.store.mongo;

import static dev.outbox.tck.internal.Decisions.all;
import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/**
 * Asks a real server how it runs each command of a claim and a settle: by an index of the messages,
 * without a sort (C5).
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MongoPlansTest {
  private static final Set<String> EXPLAINED =
      Set.of("find", "aggregate", "distinct", "update", "delete", "findAndModify");

  /** What belongs to the session, and is not asked again. */
  private static final Set<String> OF_THE_SESSION =
      Set.of(
          "$db",
          "lsid",
          "txnNumber",
          "startTransaction",
          "autocommit",
          "$clusterTime",
          "readConcern",
          "writeConcern",
          "$readPreference",
          "apiVersion",
          "apiStrict");

  private static final int MANY = 5_000;

  private final List<BsonDocument> commands = new CopyOnWriteArrayList<>();
  private TestDatabase database;
  private MongoClient recorded;

  @BeforeAll
  void start() {
    database = TestDatabase.open();
    recorded =
        database.telling(
            event -> {
              if (EXPLAINED.contains(event.getCommandName())
                  && event.getDatabaseName().equals(database.database.getName())) {
                commands.add(BsonDocument.parse(event.getCommand().toJson()));
              }
            });
  }

  @AfterAll
  void stop() {
    if (recorded != null) {
      recorded.close();
    }
    if (database != null) {
      database.close();
    }
  }

  @TestFactory
  Stream<DynamicTest> eachCommandUsesAnIndex() {
    skipUnlessItExplains();
    MongoOutboxStore store =
        MongoOutboxStore.builder(recorded, database.database.getName())
            .archive(Archive.FULL)
            .build();
    store.migrate();
    fill(store);
    commands.clear();
    use(store);
    Map<String, BsonDocument> different = new HashMap<>();
    commands.forEach(command -> different.putIfAbsent(shape(command), command));
    assertThat(different).hasSizeGreaterThan(8);
    return different.values().stream()
        .map(command -> DynamicTest.dynamicTest(title(command), () -> check(command)));
  }

  private void skipUnlessItExplains() {
    Document plan =
        database.database.runCommand(new Document("explain", new Document("find", "nothing")));
    if (plan.toJson().contains("POSTGRESQL")) {
      throw new TestAbortedException(
          "skipped: this server does not plan as a mongod does; run it on one with -Doutbox.test.mongo.url=…");
    }
  }

  /** Many messages of each kind, most of them in one bucket. */
  private void fill(MongoOutboxStore store) {
    append(store, IntStream.range(0, MANY).mapToObj(i -> message("hot").build()).toList());
    append(
        store,
        IntStream.range(0, MANY)
            .mapToObj(i -> message("later" + i).deliverAfter(Duration.ofDays(1)).build())
            .toList());
    append(store, IntStream.range(0, MANY).mapToObj(i -> message("key" + i).build()).toList());
    for (int i = 0; i < 20; i++) {
      Claim claim = store.claim(new Claim.Request("test", 200, 1_000_000, Duration.ofMinutes(1)));
      settle(claim, i % 2 == 0 ? Decision.retry(Duration.ofDays(1), "failed") : dead());
    }
  }

  private static Decision dead() {
    return Decision.dead("dead");
  }

  private static OutboxMessage.Builder message(String key) {
    return OutboxMessage.builder().aggregate("order", key).eventType("Changed").payload("{}");
  }

  private void append(MongoOutboxStore store, List<OutboxMessage> messages) {
    for (int from = 0; from < messages.size(); from += 500) {
      int to = Math.min(messages.size(), from + 500);
      List<OutboxMessage> some = messages.subList(from, to);
      try (ClientSession session = recorded.startSession()) {
        session.withTransaction(() -> store.append(session, some));
      }
    }
  }

  private static void settle(Claim claim, Decision decision) {
    Set<Long> lost = claim.settle(all(claim, decision));
    assertThat(lost).isEmpty();
  }

  /** A claim and settle of each kind. */
  private void use(MongoOutboxStore store) {
    Claim.Request request = new Claim.Request("test", 100, 1_000_000, Duration.ofMinutes(1));
    append(store, List.of(message("dedup").dedupKey("d").build()));
    database.collection("outbox_message").insertOne(TestDatabase.least("foreign"));
    Settled next = store.settleAndClaim(store.claim(request), Map.of(), request);
    next = store.settleAndClaim(next.next(), all(next.next(), Decision.delivered()), request);
    settle(next.next(), Decision.retry(Duration.ZERO, "failed"));
    Claim blocked = store.claim(request);
    assertThat(blocked.renew(Duration.ofMinutes(1))).isNotNull();
    settle(blocked, Decision.delivered());
    assertThat(store.statistics(100).dead()).isEqualTo(100);
    assertThat(store.deadLetters(0, 10)).isNotEmpty();
    assertThat(store.requeue(store.deadLetters(0, 1).get(0).message().sequence())).isTrue();
    assertThat(store.discard(store.deadLetters(0, 1).get(0).message().sequence())).isTrue();
    Search ever = Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z"));
    List<Archived> archived = store.archived(ever, 10);
    assertThat(store.archived(ever.after(archived.get(9).position()), 10)).isNotEmpty();
  }

  private void check(BsonDocument command) {
    BsonDocument plan =
        database.database.runCommand(
            new Document("explain", command).append("verbosity", "executionStats"),
            BsonDocument.class);
    String messages = database.database.getName() + ".outbox_message";
    List<String> stages = new ArrayList<>();
    collect(plan, stages);
    boolean ofMessages =
        Set.of("outbox_message", "outbox_archive_message")
            .contains(command.getString(command.getFirstKey()).getValue());
    if (ofMessages) {
      assertThat(stages)
          .as("plan of %s: %s", command.toJson(), plan.toJson())
          .doesNotContain("COLLSCAN", "SORT");
    }
    assertThat(plan.toJson())
        .as("look-ups of %s in %s", command.toJson(), messages)
        .doesNotContainPattern("\"collectionScans\": (\\{\"\\$numberLong\": \"[1-9]|[1-9])");
  }

  private static void collect(BsonValue value, List<String> stages) {
    if (value instanceof BsonDocument document) {
      if (document.get("stage") instanceof BsonString stage) {
        stages.add(stage.getValue());
      }
      document.values().forEach(inner -> collect(inner, stages));
    } else if (value instanceof BsonArray array) {
      array.forEach(inner -> collect(inner, stages));
    }
  }

  /** The command alone, as explain takes it. */
  private static String shape(BsonDocument command) {
    OF_THE_SESSION.forEach(command::remove);
    command.remove("maxTimeMS");
    if (command.getFirstKey().equals("aggregate")) {
      command.append("cursor", new BsonDocument());
    }
    if (command.getFirstKey().equals("findAndModify")) {
      command.append("new", BsonBoolean.TRUE);
    }
    return title(command);
  }

  private static String title(BsonDocument command) {
    String name = command.getFirstKey();
    String fields =
        command
            .toJson()
            .replaceAll("[0-9a-f]{8,}|\\d+", "")
            .replaceAll("\"\\$\\w+\": \"[^\"]*\"", "");
    return name
        + " "
        + command.getString(name).getValue()
        + " "
        + Integer.toHexString(fields.replaceAll("\\[[^\\[\\]]*]", "[]").hashCode());
  }
}
