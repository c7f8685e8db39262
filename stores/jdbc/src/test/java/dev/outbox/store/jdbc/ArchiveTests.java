package dev.outbox.store.jdbc;

import static dev.outbox.tck.internal.Decisions.all;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.spi.store.ArchiveStore.Archived;
import dev.outbox.spi.store.ArchiveStore.Search;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.DeadLetterStore.DeadLetter;
import dev.outbox.spi.store.Decision;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What every relational store does about its archive, beside what the TCK asks. */
public abstract class ArchiveTests extends DatabaseTests {
  private static final Search ALL =
      Search.between(Instant.EPOCH, Instant.parse("2100-01-01T00:00:00Z"));

  protected ArchiveTests(TestedStore tested) {
    super(tested);
  }

  @Override
  protected boolean hasTables() {
    return false;
  }

  @BeforeEach
  void migrate() {
    store = builder(database.pool).archive(Archive.FULL).build();
    store.migrate();
  }

  /** All that is archived, in its order. */
  protected final List<Archived> archive() {
    return store.archived(ALL, 10_000);
  }

  /** Their ids. */
  protected final List<UUID> archived() {
    return archive().stream().map(one -> one.message().message().id()).toList();
  }

  private void die(Decision decision) {
    Claim claim = store.claim(request());
    assertThat(claim.settle(all(claim, decision))).isEmpty();
  }

  @Test
  @DisplayName("needs tables of its own: an outbox that is there gets them, and no other change")
  void existing() {
    database.empty();
    JdbcOutboxStore none = builder(database.pool).build();
    none.migrate();
    none.verify();
    assertThatThrownBy(store::verify)
        .isInstanceOf(SchemaException.class)
        .hasMessageContaining("outbox_archive_schema")
        .hasMessageContaining("outbox migrate --archive");
    assertThatThrownBy(() -> store.claim(request())).isInstanceOf(SchemaException.class);
    assertThatThrownBy(() -> none.archived(ALL, 1)).isInstanceOf(SchemaException.class);
    append(message("a")); // who only appends needs no archive
    store.migrate();
    store.verify();
    assertThat(delivered()).hasSize(1);
    assertThat(none.archived(ALL, 10)).as("who keeps none may look").hasSize(1);
  }

  @Test
  @DisplayName("what left longer ago than the retention is removed, and nothing younger")
  void retention() {
    append(message("old"), message("young"));
    assertThat(delivered()).hasSize(2);
    for (String key : List.of("old", "young")) {
      database.execute(
          "update outbox_archive_message set archived_at = %s where aggregate_id = '%s'"
              .formatted(daysAgo(key.equals("old") ? 31 : 29), key));
    }
    store.housekeep();
    assertThat(archive())
        .as("kept for 30 days, unless told otherwise")
        .extracting(one -> one.message().message().aggregateId())
        .containsExactly("young");
    builder(database.pool)
        .archive(Archive.METADATA)
        .archiveRetention(Duration.ofDays(28))
        .build()
        .housekeep();
    assertThat(archive()).as("what left 29 days ago, when 28 are kept").isEmpty();
  }

  @Test
  @DisplayName("dead letters expire also where there is none")
  void expiresIntoNothing() {
    append(message("old"));
    die(Decision.dead("rejected"));
    database.execute("update outbox_message set last_failed_at = " + daysAgo(10));
    store.housekeep();
    assertThat(store.deadLetters(0, 10)).as("kept unless told otherwise").hasSize(1);
    builder(database.pool).deadLetterRetention(Duration.ofDays(9)).build().housekeep();
    assertThat(store.deadLetters(0, 10)).isEmpty();
    assertThat(archived()).isEmpty();
  }

  @Test
  @DisplayName("a dead letter that somebody requeues while it expires, and that dies anew, stays")
  void requeuedWhileItExpires() {
    append(message("old"));
    die(Decision.dead("rejected"));
    database.execute("update outbox_message set last_failed_at = " + daysAgo(10));
    AtomicInteger requeued = new AtomicInteger();
    DataSource between =
        Intercepted.rewriting(
            database.pool,
            sql -> {
              boolean isLock = sql.contains("DEAD'") && sql.strip().endsWith("for update");
              if (isLock && requeued.getAndIncrement() == 0) {
                assertThat(store.requeue(store.deadLetters(0, 1).get(0).message().sequence()))
                    .isTrue();
                die(Decision.dead("rejected again"));
              }
              return sql;
            });
    builder(between)
        .archive(Archive.FULL)
        .deadLetterRetention(Duration.ofDays(9))
        .build()
        .housekeep();
    assertThat(requeued).as("locks of dead letters").hasValue(1);
    assertThat(store.deadLetters(0, 10))
        .as("it died just now")
        .singleElement()
        .extracting(DeadLetter::error)
        .isEqualTo("rejected again");
    assertThat(archived()).isEmpty();
  }

  @Test
  @DisplayName("housekeeping does everything else also where the archive cannot be kept")
  void brokenArchive() {
    append(message("old"));
    die(Decision.dead("rejected"));
    database.execute(
        "update outbox_message set last_failed_at = " + daysAgo(10),
        "insert into outbox_dedup (dedup_key, created_at) values ('old', %s)".formatted(daysAgo(8)),
        "delete from outbox_bucket where bucket = 7",
        "drop table outbox_archive_message cascade");
    JdbcOutboxStore broken =
        builder(database.pool)
            .archive(Archive.FULL)
            .deadLetterRetention(Duration.ofDays(9))
            .build();
    assertThatThrownBy(broken::housekeep).hasMessageContaining("outbox_archive_");
    assertThat(database.query("select count(*) from outbox_dedup")).as("dedup keys").isEqualTo("0");
    assertThat(database.query("select count(*) from outbox_bucket")).as("buckets").isEqualTo("64");
    assertThat(store.deadLetters(0, 10)).as("dead letters that could not be archived").hasSize(1);
  }

  /** Makes this transaction keep the archive, so that there is something that it does. */
  protected abstract void keep(Connection transaction);

  @Test
  @DisplayName("a settle does not wait for housekeeping that is under way")
  void besideHousekeeping() {
    OutboxMessage young = message("young");
    append(message("old"), young);
    assertThat(delivered()).hasSize(2);
    database.execute(
        "update outbox_archive_message set archived_at = %s where aggregate_id = 'old'"
            .formatted(daysAgo(31)));
    append(message("now"));
    database.inTransaction(
        false,
        transaction -> {
          keep(transaction);
          assertThat(CompletableFuture.supplyAsync(this::delivered).orTimeout(20, SECONDS).join())
              .hasSize(1);
        });
    assertThat(archived()).as("what was young").contains(young.id());
  }
}
