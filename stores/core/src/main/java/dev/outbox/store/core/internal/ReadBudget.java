package dev.outbox.store.core.internal;

import static java.util.Objects.requireNonNull;

import dev.outbox.store.core.internal.Database.Limits;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How much more of each bucket may come in one read: messages, until their bytes are used up. */
public final class ReadBudget {
  private final Map<Integer, Left> left = new HashMap<>();

  private record Left(int messages, long bytes) {}

  public ReadBudget(List<Lease> leases, Limits limits) {
    for (Lease lease : leases) {
      left.put(lease.bucket(), new Left(lease.single() ? 1 : limits.messages(), limits.bytes()));
    }
  }

  /** Whether one more message of the bucket has room; if so, it is taken, whatever its size. */
  public boolean take(int bucket, long size) {
    Left now = requireNonNull(left.get(bucket));
    if (now.messages() <= 0 || now.bytes() <= 0) {
      return false;
    }
    left.put(bucket, new Left(now.messages() - 1, now.bytes() - size));
    return true;
  }
}
