package dev.outbox.store.postgres;

import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Statements.Limits;
import dev.outbox.store.core.Statements.Pending;
import dev.outbox.store.jdbc.Dialect;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** A dialect that is right, and lets others go on at some places, once each. */
final class Hooks extends Variant {
  private static final Runnable NOTHING = () -> {};
  Runnable beforeRead = NOTHING;
  Runnable afterRead = NOTHING;
  Runnable beforeRequeue = NOTHING;
  Runnable beforeRestore = NOTHING;

  @Override
  Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
    Runnable before = beforeRead;
    beforeRead = NOTHING;
    before.run();
    Pending read = super.readPending(right, handle, leases, limits);
    Runnable after = afterRead;
    afterRead = NOTHING;
    after.run();
    return read;
  }

  @Override
  void restoreBlockedKeys(Dialect right, Handle handle, List<Integer> buckets) {
    Runnable before = beforeRestore;
    beforeRestore = NOTHING;
    before.run();
    super.restoreBlockedKeys(right, handle, buckets);
  }

  @Override
  boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
    Runnable before = beforeRequeue;
    beforeRequeue = NOTHING;
    before.run();
    return super.requeue(right, handle, sequence);
  }
}
