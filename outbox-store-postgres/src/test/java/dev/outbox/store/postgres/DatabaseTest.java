package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.HoldingTests;

/** Tests of what only PostgreSQL has. */
abstract class DatabaseTest extends HoldingTests {

  DatabaseTest() {
    super(new Postgres());
  }

  /** Messages of {@code keys} keys, all of one status. */
  final void insert(int messages, int keys, String status, String availableAt) {
    database.execute(
        """
        insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, status, available_at)
        select 'order', 'key ' || n %% %d, 'Placed', '{}', '%s', %s
        from generate_series(1, %d) n
        """
            .formatted(keys, status, availableAt, messages));
  }
}
