package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.store.jdbc.internal.SqlAdministration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What housekeeping does in every relational store. */
public abstract class HousekeepingTests extends DatabaseTests {

  protected HousekeepingTests(TestedStore tested) {
    super(tested);
  }

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
}
