package dev.outbox.store.core.internal;

import static dev.outbox.store.core.internal.ClaimsTest.FOUR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.outbox.Archive;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.StoreProvider.History;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A store with buckets")
class BucketStoreTest {
  private static final List<Integer> ALL = IntStream.range(0, 64).boxed().toList();

  private final FakeDatabase database = new FakeDatabase(false);
  private final FakeStore store = new FakeStore(database);

  private long asked(String statement) {
    return Collections.frequency(database.asked, "store: " + statement);
  }

  @Test
  @DisplayName(
      "looks every three seconds whether its own rows are whole, when there is nothing to do")
  void restores() {
    store.claim(FOUR);
    assertThat(database.sessions).as("claims, when all was whole").hasSize(1);
    store.claim(FOUR);
    assertThat(asked("restore")).isEqualTo(1);
    database.clock += Duration.ofSeconds(3).toNanos() - 1;
    store.claim(FOUR);
    assertThat(asked("restore")).as("before three seconds are over").isEqualTo(1);
    database.clock++;
    store.claim(FOUR);
    assertThat(asked("restore")).as("after three seconds").isEqualTo(2);
    assertThat(database.restored).as("blocked keys, where no bucket was missing").isEmpty();
  }

  @Test
  @DisplayName("claims again when it put back rows, and does not look while there is work")
  void claimsAgain() {
    database.chores.add(true);
    store.claim(FOUR);
    assertThat(database.sessions).as("claims").hasSize(2);
    assertThat(database.restored).containsExactly(ALL);
    database.clock += Duration.ofHours(1).toNanos();
    database.add(1, 1, 2);
    assertThat(store.claim(FOUR).messages()).hasSize(2);
    assertThat(asked("restore")).isEqualTo(1);
  }

  @Test
  @DisplayName("tidies up: blocked keys of each bucket in turn, dedup keys until none is left")
  void housekeeps() {
    database.chores.addAll(List.of(false, true, true, false));
    database.blocked = List.of(7, 40);
    store.housekeep();
    assertThat(asked("freeHaltedByNothing")).isEqualTo(1);
    assertThat(asked("restore")).isEqualTo(1);
    assertThat(asked("purgeDedup")).as("until nothing is left").isEqualTo(3);
    for (int i = 1; i < 65; i++) {
      store.housekeep();
    }
    // Each in a transaction of its own, or a bucket would be held for as long as all take.
    assertThat(database.restored.subList(0, 2))
        .as("blocked keys at first, where there are any")
        .containsExactly(List.of(7), List.of(40));
    assertThat(database.restored.subList(2, 66).stream().flatMap(List::stream))
        .as("blocked keys after that, a bucket at a time")
        .containsExactlyInAnyOrderElementsOf(ALL);
  }

  @Test
  @DisplayName("looks at the schema before the first claim, and again after each housekeeping")
  void looksAtTheSchema() {
    store.claim(FOUR);
    store.claim(FOUR);
    assertThat(store.checked).as("before").isEqualTo(1);
    store.housekeep();
    store.claim(FOUR);
    store.claim(FOUR);
    assertThat(store.checked).as("after").isEqualTo(2);
  }

  @Test
  @DisplayName("does what is the database's own first, each step in a transaction of its own")
  void ownSteps() {
    store.housekeep();
    store.claim(new Claim.Request("relay", 1, 1, Duration.ofSeconds(7)));
    int transactions = database.ran;
    store.housekeep();
    assertThat(database.ownSteps)
        .as("rounds and leases")
        .containsExactly(
            "1 of round 0, PT30S",
            "2 of round 0, PT30S",
            "1 of round 1, PT7S",
            "2 of round 1, PT7S");
    assertThat(database.asked.get(0)).isEqualTo("store: own step");
    assertThat(database.asked.get(1)).isEqualTo("store: own step");
    assertThat(database.ran - transactions)
        .as("transactions: two own steps, halted, blocked keys, buckets, dedup keys")
        .isEqualTo(6);
  }

  @Test
  @DisplayName(
      "ends its housekeeping soon when a relay that stops interrupts it, and does it later")
  void interrupted() {
    database.blocked = List.of(3);
    Thread.currentThread().interrupt();
    store.housekeep();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(database.restored).isEmpty();
    store.housekeep();
    assertThat(database.restored).containsExactly(List.of(3));
  }

  @Test
  @DisplayName("tells the database the lease of a relay that claims from what it holds, too")
  void leaseOfWhoHolds() {
    List<Object> leases = new ArrayList<>();
    Object holding =
        Proxy.newProxyInstance(
            Holding.class.getClassLoader(), new Class<?>[] {Holding.class}, (p, m, a) -> null);
    StoreOperations<String> operations =
        new StoreOperations<>(
            Fakes.database(
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "holding" -> holding;
                      case "ownSteps" -> {
                        leases.add(arguments[1]);
                        yield List.of();
                      }
                      case "blockedBuckets" -> List.of();
                      case "restore", "purgeDedup" -> false;
                      default -> null;
                    }),
            database.transactions,
            Duration.ofDays(7),
            History.NONE);
    RelayClaims<String> relay = operations.forRelay(Duration.ofMinutes(1), () -> {});
    relay.held.shown(true);
    assertThat(relay.claim(new Claim.Request("relay", 1, 1, Duration.ofSeconds(7))).messages())
        .isEmpty();
    operations.housekeep();
    assertThat(leases).containsExactly(Duration.ofSeconds(7));
  }

  @Test
  @DisplayName("keeps the archive last, so much a round, also where no dead letter can expire")
  void keepsArchive() {
    List<String> asked = new ArrayList<>();
    StoreOperations<String> operations =
        new StoreOperations<>(
            Fakes.database(
                (proxy, method, arguments) -> {
                  asked.add(method.getName());
                  return switch (method.getName()) {
                    case "ownSteps", "blockedBuckets" -> List.of();
                    case "restore", "purgeDedup" -> false;
                    case "expireDeadLetters" -> throw new IllegalStateException("no such day");
                    case "keepArchive" -> true;
                    default -> null;
                  };
                }),
            database.transactions,
            Duration.ofDays(7),
            new History(Archive.FULL, null, Duration.ofDays(9)));
    assertThatIllegalStateException().isThrownBy(operations::housekeep).withMessage("no such day");
    assertThat(asked.stream().distinct())
        .containsExactly(
            "ownSteps",
            "freeHaltedByNothing",
            "blockedBuckets",
            "restore",
            "purgeDedup",
            "expireDeadLetters",
            "keepArchive");
    assertThat(Collections.frequency(asked, "keepArchive"))
        .isEqualTo(StoreOperations.ARCHIVE_STEPS);
  }

  @Test
  @DisplayName("refuses a dedup window below a millisecond")
  void window() {
    assertThat(new MapStore(new MapDatabase(false), Duration.ofMillis(1)).window())
        .isEqualTo(Duration.ofMillis(1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new MapStore(new MapDatabase(false), Duration.ofNanos(999_999)))
        .withMessage("dedupWindow is 0.999999ms, at least 1 ms is needed");
  }

  @Test
  @DisplayName("migrates, and looks at the schema again afterwards")
  void migrates() {
    MapDatabase map = new MapDatabase(false);
    MapStore migrated = new MapStore(map, Duration.ofDays(1));
    migrated.verify();
    map.schemaVersion = 0;
    migrated.migrate();
    assertThat(map.schemaVersion).isEqualTo(MapDatabase.VERSION);
    assertThat(migrated.looked).isEqualTo(1);
    for (int claims = 0; claims < 2; claims++) {
      assertThat(migrated.claim(FOUR).messages()).isEmpty();
      assertThat(migrated.looked).as("by the first claim").isEqualTo(2);
    }
  }
}
