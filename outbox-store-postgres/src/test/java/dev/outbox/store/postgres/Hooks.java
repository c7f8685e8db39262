package dev.outbox.store.postgres;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Administration;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Lease;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** A dialect that is right, and lets others go on at some places, once each. */
final class Hooks extends Variant {
  private static final Runnable NOTHING = () -> {};
  Runnable beforeLease = NOTHING;
  Runnable beforeRead = NOTHING;
  Runnable afterRead = NOTHING;
  Runnable beforeRestore = NOTHING;

  @Override
  List<Lease> lease(
      Leases<Handle> right, Handle handle, UUID claimId, Claim.Request request, int most) {
    Runnable before = beforeLease;
    beforeLease = NOTHING;
    before.run();
    return super.lease(right, handle, claimId, request, most);
  }

  @Override
  Pending readPending(Reads<Handle> right, Handle handle, List<Lease> leases, Limits limits) {
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
  void restoreBlockedKeys(Administration<Handle> right, Handle handle, List<Integer> buckets) {
    Runnable before = beforeRestore;
    beforeRestore = NOTHING;
    before.run();
    super.restoreBlockedKeys(right, handle, buckets);
  }
}
