package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.JdbcStoreTck;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.store.ReadOnlyTransactions;
import java.sql.Connection;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The TCK on PostgreSQL; also what {@code ./outbox tck} runs in a user's own database. */
public class PostgresStoreTck extends JdbcStoreTck implements ReadOnlyTransactions<Connection> {

  public PostgresStoreTck() {
    super(new Postgres());
  }

  @Override
  public void inReadOnlyTransaction(Consumer<Connection> work) {
    database().inTransaction(true, work);
  }

  @Override
  protected List<String> emptyMessages() {
    return List.of(
        "truncate outbox_message, outbox_blocked_key, outbox_dedup, outbox_pause",
        "delete from outbox_archive_message", // mostly empty, and a file for each day
        "delete from outbox_archive_audit");
  }

  @Override
  protected String truncate() {
    return super.truncate() + " restart identity";
  }

  @Override
  protected List<String> analyze() {
    return List.of("vacuum analyze outbox_message, outbox_blocked_key");
  }

  /** Counts the rows and index entries that the session's statements have read. */
  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    return new Reads(session)::rows;
  }

  @Override
  protected Object column(UUID id) {
    return id;
  }

  @Override
  protected Object column(Instant time) {
    return time.atOffset(ZoneOffset.UTC);
  }

  @Override
  protected String relaxed() {
    return "set local synchronous_commit = off";
  }
}
