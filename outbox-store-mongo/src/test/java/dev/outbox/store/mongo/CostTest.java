package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What docs/performance.md says that a message costs: commands, and documents that are written. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CostTest {
  private static final int BATCH = 1_000;
  private static final Claim.Request REQUEST =
      new Claim.Request("test", BATCH, 10_000_000, Duration.ofMinutes(1));

  private final AtomicLong commands = new AtomicLong();
  private final AtomicLong written = new AtomicLong();
  private TestDatabase database;
  private MongoClient counted;
  private MongoOutboxStore store;

  private final class Counting implements CommandListener {
    private static final Set<String> OF_THE_POOL =
        Set.of("hello", "isMaster", "ping", "saslStart", "saslContinue", "endSessions");

    @Override
    public void commandStarted(CommandStartedEvent event) {
      commands.addAndGet(OF_THE_POOL.contains(event.getCommandName()) ? 0 : 1);
    }

    @Override
    public void commandSucceeded(CommandSucceededEvent event) {
      BsonDocument reply = event.getResponse();
      written.addAndGet(
          switch (event.getCommandName()) {
            case "insert", "delete" -> reply.getNumber("n").longValue();
            case "update" -> reply.getNumber("nModified").longValue();
            case "findAndModify" -> reply.getDocument("lastErrorObject").getNumber("n").longValue();
            default -> 0;
          });
    }
  }

  @BeforeAll
  void open() {
    database = TestDatabase.open();
    counted = database.client(new Counting());
    store = MongoOutboxStore.builder(counted, database.database.getName()).build();
    store.migrate();
    append(1, 1); // asks for the schema's version
    drain();
  }

  @AfterAll
  void close() {
    if (counted != null) {
      counted.close();
    }
    if (database != null) {
      database.close();
    }
  }

  @BeforeEach
  void forget() {
    commands.set(0);
    written.set(0);
  }

  private void append(int count, int keys) {
    OutboxMessage[] messages =
        IntStream.range(0, count)
            .mapToObj(i -> TestDatabase.message("key" + i % keys).build())
            .toArray(OutboxMessage[]::new);
    try (ClientSession session = counted.startSession()) {
      session.startTransaction();
      assertThat(store.append(session, List.of(messages)).duplicates()).isEmpty();
      session.commitTransaction();
    }
  }

  /** As a worker does; returns how many there were. */
  private int drain() {
    int count = 0;
    Claim claim = store.claim(REQUEST);
    while (!claim.messages().isEmpty() || claim.pollAgain()) {
      count += claim.messages().size();
      Map<Long, Decision> decisions =
          claim.messages().stream()
              .map(StoredMessage::sequence)
              .collect(Collectors.toMap(Function.identity(), s -> Decision.delivered()));
      Claim.Settled settled = store.settleAndClaim(claim, decisions, REQUEST);
      assertThat(settled.lost()).isEmpty();
      claim = settled.next();
    }
    assertThat(claim.settle(Map.of())).isEmpty();
    return count;
  }

  @ParameterizedTest
  @CsvSource({"1000, 0.035, 2.05", "1, 0.015, 2.01"})
  @DisplayName("a drain in batches takes few commands, and writes little but what it removes")
  void drained(int keys, double most, double mostWritten) {
    for (int i = 0; i < 10; i++) {
      append(BATCH, keys);
    }
    assertThat(written.get()).isEqualTo(10 * BATCH);
    commands.set(0);
    assertThat(drain()).isEqualTo(10 * BATCH);
    assertThat((double) commands.get() / (10 * BATCH)).isBetween(0.002, most);
    assertThat((double) written.get() / (10 * BATCH)).isBetween(2.0, mostWritten);
  }

  @Test
  @DisplayName("an append is one command in its transaction, of one message or of ten")
  void appended() {
    append(1, 1);
    append(10, 10);
    assertThat(commands.get()).isEqualTo(2 * (1 + 1));
    assertThat(written.get()).isEqualTo(1 + 10);
    assertThat(drain()).isEqualTo(11);
  }
}
