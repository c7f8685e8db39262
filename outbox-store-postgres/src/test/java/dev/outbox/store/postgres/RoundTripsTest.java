package dev.outbox.store.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.inbox.InboxKey;
import dev.outbox.inbox.InboxResult;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.KeepingStore.Uncommitted;
import dev.outbox.spi.store.KeepingStore.Uncommitted.Committed;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Round trips")
class RoundTripsTest extends DatabaseTest {
  @Override
  protected void configure(HikariConfig config) {
    config.addDataSourceProperty("socketFactory", CountedSockets.class.getName());
  }

  private static List<OutboxMessage> messages(int count, boolean dedup) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                of("order " + i)
                    .payload(new byte[1_000])
                    .header("traceparent", "00-0")
                    .dedupKey(dedup ? "key " + i : null)
                    .build())
        .toList();
  }

  @Test
  @DisplayName("an append is one, of one message or of many, with dedup keys or without")
  void append() {
    database.inTransaction(
        false,
        c -> {
          store.append(c, messages(1, false)); // begins the transaction
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(1, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(10, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(11, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(1_000, false))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, messages(1_000, true))))
              .isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> store.append(c, List.of()))).isZero();
        });
  }

  @Test
  @DisplayName("a first time is one, a repetition two; completing is one")
  void inbox() {
    PostgresInboxStore inbox = PostgresInboxStore.of(database.pool);
    inbox.migrate();
    inbox.verify();
    InboxKey key = new InboxKey("shipping", "1");
    Lock<Connection> lock =
        ((Begin.Started<Connection>)
                inbox.begin(new InboxKey("shipping", "2"), Duration.ofMinutes(1)))
            .lock();
    database.inTransaction(
        false,
        c -> {
          store.append(c, messages(1, false)); // begins the transaction
          assertThat(CountedSockets.roundTrips(() -> inbox.firstTime(c, key))).isEqualTo(1);
          assertThat(CountedSockets.roundTrips(() -> inbox.firstTime(c, key))).isEqualTo(2);
          assertThat(CountedSockets.roundTrips(() -> lock.complete(c, InboxResult.none())))
              .isEqualTo(1);
        });
  }

  /** A look takes more when something else has just written what is not on the disk yet. */
  @ParameterizedTest
  @EnumSource
  @DisplayName(
      "a message of a key that is kept is two, one to find it, one to settle and archive it")
  void kept(Archive archive) {
    PostgresOutboxStore keeping =
        PostgresOutboxStore.builder(database.pool).archive(archive).build();
    keeping.migrate();
    Keeper keeper = keeperOfAll(keeping, database, Duration.ofMinutes(5));
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              append(messages(1, false));
              return CountedSockets.roundTrips(() -> deliverOne(keeper)) == 2;
            });
    keeper.close();
  }

  @Test
  @DisplayName("a message that is handed over is one, to settle it, and its append is one as well")
  void handedOver() {
    PostgresOutboxStore handing = PostgresOutboxStore.of(database.pool);
    handing.verify();
    Keeper keeper = keeperOfAll(handing, database, Duration.ofMinutes(5));
    database.inTransaction(
        false, c -> handing.append(c, messages(1, false))); // asks for the server
    deliverOne(keeper);
    AtomicReference<Uncommitted> uncommitted = new AtomicReference<>();
    database.inTransaction(
        false, // asks for the right to read
        c -> uncommitted.set(handing.append(keeper, c, messages(1, false))));
    Committed ignored = uncommitted.get().committed();
    deliverOne(keeper);
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              database.inTransaction(
                  false,
                  c -> {
                    assertThat(
                            CountedSockets.roundTrips(
                                () ->
                                    uncommitted.set(handing.append(keeper, c, messages(1, false)))))
                        .isEqualTo(1);
                  });
              boolean handed = uncommitted.get().committed() == Committed.HANDED_OVER;
              return CountedSockets.roundTrips(() -> deliverOne(keeper)) == 1 && handed;
            });
    keeper.close();
  }
}
