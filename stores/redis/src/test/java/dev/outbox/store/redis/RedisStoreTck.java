package dev.outbox.store.redis;

import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.EmbeddedServer;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.BreaksConnections;
import dev.outbox.tck.store.CountsWork;
import dev.outbox.tck.store.DedupWindows;
import dev.outbox.tck.store.ExpiresMessages;
import dev.outbox.tck.store.FindsPoison;
import dev.outbox.tck.store.KillsServer;
import dev.outbox.tck.store.OutboxStoreTck;
import dev.outbox.tck.store.RawRows;
import dev.outbox.tck.store.RestartsSequences;
import dev.outbox.tck.store.SequencesAtCommit;
import dev.outbox.tck.store.StalledClients;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.TestInstance;
import org.opentest4j.TestAbortedException;

/** The TCK on a real Redis, in keys of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public class RedisStoreTck extends OutboxStoreTck<RedisTransaction>
    implements OnRedis,
        BreaksConnections,
        CountsWork<RedisTransaction>,
        DedupWindows<RedisTransaction>,
        RawRows<RedisTransaction>,
        ExpiresMessages,
        FindsPoison,
        KillsServer<RedisTransaction>,
        RestartsSequences,
        SequencesAtCommit,
        StalledClients {
  private static final String KIND = "outbox";
  private static final Pattern CALLS = Pattern.compile("calls=(\\d+)");
  private final TestRedis.OfSuite redis = new TestRedis.OfSuite();

  @Override
  public TestRedis.OfSuite ofSuite() {
    return redis;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public void migrate() {
    builder().build().migrate();
  }

  private RedisOutboxStore.Builder builder() {
    return redis().configured(RedisOutboxStore.builder(redis().client, redis().name));
  }

  @Override
  protected OutboxStore<RedisTransaction> createStore() {
    return builder().build();
  }

  @Override
  public OutboxStore<RedisTransaction> createStore(Duration dedupWindow) {
    return builder().dedupWindow(dedupWindow).build();
  }

  @Override
  protected void inTransaction(Consumer<RedisTransaction> work) {
    redis().inTransaction(work);
  }

  @Override
  protected void reset() {
    redis().reset(KIND);
  }

  /** As a program in any language does it: by the script, with the fields that it has. */
  @Override
  public void insertRaw(RedisTransaction transaction, RawRow row) {
    insert(transaction, fields(row));
  }

  @Override
  public void insertUndecodable(RedisTransaction transaction, RawRow row) {
    Map<String, byte[]> fields = fields(row);
    fields.put("headers", "1".getBytes());
    insert(transaction, fields);
  }

  private static Map<String, byte[]> fields(RawRow row) {
    Map<String, byte[]> fields = new LinkedHashMap<>();
    fields.put("id", row.id().toString().getBytes());
    fields.put("aggregateType", row.aggregateType().getBytes());
    fields.put("aggregateId", row.aggregateId().getBytes());
    fields.put("eventType", row.eventType().getBytes());
    fields.put("payload", row.payload());
    if (row.partitionKey() != null) {
      fields.put("partitionKey", row.partitionKey().getBytes());
    }
    if (row.availableAt() != null) {
      fields.put("availableAt", Long.toString(Arguments.micros(row.availableAt())).getBytes());
    }
    return fields;
  }

  private void insert(RedisTransaction transaction, Map<String, byte[]> fields) {
    Arguments arguments =
        Server.arguments()
            .addMillis(RedisOutboxStore.DEFAULT_DEDUP_WINDOW)
            .add("")
            .add(fields.size());
    fields.forEach((field, value) -> arguments.add(field).add(value));
    var unused =
        transaction.sendCommand(
            RedisOutboxStore.APPEND.whole(
                java.util.List.of("{%s}:outbox:".formatted(redis().name).getBytes()),
                arguments.list()));
  }

  @Override
  public void inRelaxedTransaction(Consumer<RedisTransaction> work) {
    inTransaction(work);
  }

  @Override
  public void killServer() {
    EmbeddedServer embedded =
        redis()
            .server
            .embedded()
            .orElseThrow(
                () -> new TestAbortedException("skipped: only the embedded server is killed"));
    embedded.kill();
    embedded.restart();
    redis().client.getPool().clear();
  }

  /** The server's clock cannot be moved, but all times that are compared with it can. */
  @Override
  public void moveClock(Duration by) {
    redis().earlier(KIND, by, "delayed", "retries", "leases");
    redis().fieldEarlier(KIND, by, "message", "due");
    redis().fieldEarlier(KIND, by, "message", "createdAt");
    for (String key : redis().keys("{%s}:outbox:dedup:*".formatted(redis().name))) {
      long left = redis().client.pttl(key) - by.toMillis();
      long unused = left > 0 ? redis().client.pexpire(key, left) : redis().client.del(key);
    }
  }

  /** Removes all but the leases. */
  @Override
  public void restartSequences() {
    String prefix = "{%s}:outbox:".formatted(redis().name);
    for (String key : redis().keys(prefix + "*")) {
      String kind = key.substring(prefix.length());
      if (!kind.equals("schema") && !kind.equals("leases") && !kind.startsWith("key:")) {
        long unused = redis().client.del(key);
      }
    }
  }

  /**
   * Commands that the server has run, those of scripts included. What one of them reads has a limit
   * in each script, so a script that reads more runs more.
   */
  @Override
  public <R> Counted<R> counted(
      OutboxStore<RedisTransaction> store, Function<OutboxStore<RedisTransaction>, R> work) {
    long before = commands();
    R result = work.apply(store);
    return new Counted<>(result, commands() - before);
  }

  private long commands() {
    return CALLS
        .matcher(redis().client.info("commandstats"))
        .results()
        .mapToLong(calls -> Long.parseLong(calls.group(1)))
        .sum();
  }

  /** A settle is one request. */
  @Override
  public boolean breakingAtWrite(int write, Runnable work) {
    if (write == 1) {
      return redis().breaking(LossyProxy.Fault.LOSE_REQUEST, work);
    }
    work.run();
    return false;
  }

  /** The server has done all of it, and the client does not know. */
  @Override
  public AutoCloseable stopInClaim(Claim.Request request) {
    OutboxStore<RedisTransaction> store = createStore();
    ((RedisOutboxStore) store).verify(); // so that the next reply is the claim's
    return stopped(() -> store.claim(request));
  }

  @Override
  public AutoCloseable stopInSettle(Claim claim, Map<Long, Decision> decisions) {
    return stopped(() -> claim.settle(decisions));
  }

  private AutoCloseable stopped(Runnable work) {
    redis().proxy.next(LossyProxy.Fault.STALL_REPLY);
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (TransientOutboxException e) {
                // as it has to be
              }
            },
            "stopped");
    thread.setDaemon(true);
    thread.start();
    try {
      redis().proxy.awaitStalled();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return redis().proxy::goOn;
  }
}
