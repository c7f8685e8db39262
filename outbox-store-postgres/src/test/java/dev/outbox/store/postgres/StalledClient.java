package dev.outbox.store.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.embedded.ParentJvm;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client that claims and settles once, and stands still at one place until it is told to go on.
 * It says where it is; whether it is stopped there is the parent's business.
 */
final class StalledClient {

  /** Where it stands still. */
  enum Place {
    CLAIM_BETWEEN_LEASE_AND_READ,
    CLAIM_WHILE_A_LARGE_RESULT_IS_ON_ITS_WAY,
    CLAIM_BEFORE_COMMIT,
    BETWEEN_CLAIM_AND_SETTLE,
    RENEW_BEFORE_COMMIT,
    SETTLE_AFTER_THE_BUCKETS_ARE_LOCKED,
    SETTLE_BEFORE_COMMIT
  }

  private final ParentJvm parent;
  private final Place place;
  private final AtomicInteger prepared = new AtomicInteger();
  private String operation = "";
  private boolean stood;

  private StalledClient(ParentJvm parent) {
    this.parent = parent;
    this.place = Place.valueOf(parent.get("place"));
  }

  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    // One connection only: whatever fails must give it back.
    try (HikariDataSource pool = pool(parent)) {
      new StalledClient(parent).run(pool);
    }
  }

  /** On the parent's database. */
  private static HikariDataSource pool(ParentJvm parent) {
    HikariConfig hikari = new HikariConfig();
    hikari.setJdbcUrl(parent.get("url"));
    hikari.setUsername(parent.get("user"));
    hikari.setPassword(parent.get("password"));
    hikari.setMaximumPoolSize(1);
    hikari.setMinimumIdle(0);
    return new HikariDataSource(hikari);
  }

  private void run(HikariDataSource pool) {
    PostgresOutboxStore store =
        PostgresOutboxStore.builder(Watched.dataSource(pool, this::before))
            .schema(parent.get("schema"))
            .build();
    store.verify();
    Duration lease = Duration.parse(parent.get("lease"));
    Claim.Request request = new Claim.Request("stalled", 1_000, 1L << 30, lease);
    Claim claim;
    if (place == Place.CLAIM_WHILE_A_LARGE_RESULT_IS_ON_ITS_WAY) {
      CountedSockets.after(1_000_000, this::standStill);
    }
    do {
      claim = claim(store, request);
      // On a busy machine a client may be too slow for its transaction before it has to stand
      // still.
    } while (claim == null && !stood);
    if (claim != null && place == Place.BETWEEN_CLAIM_AND_SETTLE) {
      standStill();
    }
    if (claim != null && place == Place.RENEW_BEFORE_COMMIT) {
      renew(claim, lease);
    }
    if (claim != null) {
      settle(claim);
    }
    begin("");
    parent.say("then claimed " + store.claim(request).messages().size());
  }

  private Claim claim(PostgresOutboxStore store, Claim.Request request) {
    try {
      begin("claim");
      Claim claim = store.claim(request);
      parent.say("claimed " + claim.messages().size());
      return claim;
    } catch (OutboxException e) {
      failed(e);
      return null;
    }
  }

  private void renew(Claim claim, Duration lease) {
    try {
      begin("renew");
      parent.say("renewed " + claim.renew(lease).size());
    } catch (OutboxException e) {
      failed(e);
    }
  }

  private void settle(Claim claim) {
    Map<Long, Decision> decisions = decisions(claim);
    for (int tries = 0; tries < 2; tries++) {
      try {
        begin("settle");
        Set<Long> lost = claim.settle(decisions);
        parent.say("lost " + new TreeSet<>(lost));
        return;
      } catch (TransientOutboxException e) {
        failed(e);
      } catch (OutboxException e) {
        failed(e);
        return;
      }
    }
  }

  /** Of everything something, so that whatever is carried out can be seen. */
  private static Map<Long, Decision> decisions(Claim claim) {
    Map<Long, Decision> decisions = new HashMap<>();
    for (StoredMessage message : claim.messages()) {
      int kind = decisions.size() % 4;
      decisions.put(
          message.sequence(),
          switch (kind) {
            case 0 -> Decision.delivered();
            case 1 -> Decision.retry(Duration.ofHours(1), "late");
            case 2 -> Decision.dead("late");
            default -> Decision.deadHaltingKey("late");
          });
    }
    return decisions;
  }

  private void failed(OutboxException e) {
    // Between transactions nothing is ended because it stood still; so the machine is busy.
    boolean busy = !stood || place == Place.BETWEEN_CLAIM_AND_SETTLE;
    if (e instanceof TransientOutboxException && busy) {
      return;
    }
    parent.say(
        (e instanceof TransientOutboxException ? "transient " : "failed ")
            + e.getMessage().replace('\n', ' '));
  }

  private void begin(String next) {
    prepared.set(0);
    operation = next;
  }

  private void before(String method) {
    // The first takes the buckets.
    boolean second = method.equals("prepareStatement") && prepared.incrementAndGet() == 2;
    boolean commit = method.equals("commit");
    boolean here =
        switch (place) {
          case CLAIM_BETWEEN_LEASE_AND_READ -> second && operation.equals("claim");
          case CLAIM_BEFORE_COMMIT -> commit && operation.equals("claim");
          case RENEW_BEFORE_COMMIT -> commit && operation.equals("renew");
          case SETTLE_AFTER_THE_BUCKETS_ARE_LOCKED -> second && operation.equals("settle");
          case SETTLE_BEFORE_COMMIT -> commit && operation.equals("settle");
          case CLAIM_WHILE_A_LARGE_RESULT_IS_ON_ITS_WAY, BETWEEN_CLAIM_AND_SETTLE -> false;
        };
    if (here && !stood) {
      standStill();
    }
  }

  private void standStill() {
    stood = true;
    parent.say("here " + place);
    try {
      String ignored = parent.command();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
