package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.store.jdbc.internal.SqlAdministration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What housekeeping does in every relational store. */
public abstract class HousekeepingTests extends DatabaseTests {

  protected HousekeepingTests(TestedStore tested) {
    super(tested);
  }

  @BeforeEach
  void migrate() {
    store.migrate();
  }

  /** An expression: some days ago. */
  protected abstract String daysAgo(int days);

  protected final void remember(String prefix, int keys, int daysAgo) {
    database.execute(
        IntStream.rangeClosed(1, keys)
            .mapToObj(n -> "('%s %d', %s)".formatted(prefix, n, daysAgo(daysAgo)))
            .collect(
                Collectors.joining(
                    ", ", "insert into outbox_dedup (dedup_key, created_at) values ", "")));
  }

  @Test
  @DisplayName("purges dedup keys older than the window, however many, and no others")
  void purges() {
    remember("old", SqlAdministration.PURGE + 5_000, 8);
    remember("new", 10, 6);
    store.housekeep();
    assertThat(database.query("select count(*) from outbox_dedup where dedup_key like 'new%'"))
        .isEqualTo("10");
    assertThat(database.query("select count(*) from outbox_dedup")).isEqualTo("10");
  }

  @Test
  @DisplayName("puts back bucket rows that were deleted, also some of them, and the blocked keys")
  void restores() {
    database.inTransaction(false, c -> store.append(c, message()));
    database.execute(block(), "delete from outbox_bucket where bucket < 10");
    store.housekeep();
    assertThat(database.query("select count(*) from outbox_bucket")).isEqualTo("64");
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("1");
    assertThat(store.claim(request()).messages()).as("of the blocked key").hasSize(1);
  }

  @Test
  @DisplayName("puts back the blocked keys of all buckets, the first time")
  void restoresEverywhere() {
    List<OutboxMessage> messages =
        IntStream.range(0, 20)
            .mapToObj(
                i ->
                    OutboxMessage.builder()
                        .aggregate("order", "key " + i)
                        .eventType("Placed")
                        .payload("{}")
                        .build())
            .toList();
    database.inTransaction(false, c -> store.append(c, messages));
    database.execute(block());
    store.housekeep();
    assertThat(database.query("select count(*) from outbox_blocked_key")).isEqualTo("20");
  }

  @Test
  @DisplayName("lets a key go that is halted by a dead letter which somebody deleted")
  void haltedByNothing() {
    database.inTransaction(false, c -> store.append(c, message()));
    Claim claim = store.claim(request());
    long dead = claim.messages().get(0).sequence();
    assertThat(claim.settle(Map.of(dead, Decision.deadHaltingKey("rejected"))))
        .as("lost")
        .isEmpty();
    database.execute("delete from outbox_message");
    database.inTransaction(false, c -> store.append(c, message()));
    assertThat(store.claim(request()).messages()).as("while the key is halted").isEmpty();
    store.housekeep();
    assertThat(store.claim(request()).messages()).as("after housekeeping").hasSize(1);
  }

  /** An update that makes all messages BLOCKED. */
  protected String block() {
    return "update outbox_message set status = 'BLOCKED'";
  }
}
