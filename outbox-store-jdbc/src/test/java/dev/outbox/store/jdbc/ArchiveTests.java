package dev.outbox.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Archive;
import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.spi.ArchiveStore.Archived;
import dev.outbox.spi.ArchiveStore.Outcome;
import dev.outbox.spi.ArchiveStore.Search;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Decision;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
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

  @BeforeEach
  void migrate() {
    store = builder(database.pool).archive(Archive.FULL).build();
    store.migrate();
  }

  /** An expression: some days ago. */
  protected abstract String daysAgo(int days);

  protected final void append(OutboxMessage... messages) {
    database.inTransaction(false, c -> store.append(c, List.of(messages)));
  }

  protected static OutboxMessage message(String key) {
    return OutboxMessage.builder()
        .aggregate("order", key)
        .eventType("Placed")
        .payload("{}")
        .build();
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
    assertThat(
            claim.settle(
                claim.messages().stream()
                    .collect(Collectors.toMap(StoredMessage::sequence, m -> decision))))
        .isEmpty();
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
        .hasMessageContaining("./outbox migrate --archive");
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
  @DisplayName("dead letters expire into it, but none that halts its key")
  void expires() {
    append(message("young"));
    die(Decision.dead("rejected"));
    append(message("old"));
    die(Decision.dead("rejected"));
    append(message("halted"));
    die(Decision.deadHaltingKey("rejected"));
    database.execute(
        "update outbox_message set last_failed_at = %s where aggregate_id <> 'young'"
            .formatted(daysAgo(10)));
    store.housekeep();
    assertThat(store.deadLetters(0, 10)).as("kept unless told otherwise").hasSize(3);
    builder(database.pool)
        .archive(Archive.FULL)
        .deadLetterRetention(Duration.ofDays(9))
        .build()
        .housekeep();
    assertThat(store.deadLetters(0, 10))
        .extracting(letter -> letter.message().message().aggregateId())
        .containsExactlyInAnyOrder("young", "halted");
    List<Archived> archived = archive();
    assertThat(archived).extracting(Archived::outcome).containsExactly(Outcome.EXPIRED);
    assertThat(archived.get(0).error()).isEqualTo("rejected");
  }

  @Test
  @DisplayName("dead letters expire also where there is none")
  void expiresIntoNothing() {
    append(message("old"));
    die(Decision.dead("rejected"));
    database.execute("update outbox_message set last_failed_at = " + daysAgo(10));
    builder(database.pool).deadLetterRetention(Duration.ofDays(9)).build().housekeep();
    assertThat(store.deadLetters(0, 10)).isEmpty();
    assertThat(archived()).isEmpty();
  }
}
