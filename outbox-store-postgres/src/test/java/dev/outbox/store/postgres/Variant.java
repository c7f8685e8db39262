package dev.outbox.store.postgres;

import dev.outbox.spi.ClaimRequest;
import dev.outbox.store.core.Lease;
import dev.outbox.store.core.Statements.Held;
import dev.outbox.store.core.Statements.Limits;
import dev.outbox.store.core.Statements.Pending;
import dev.outbox.store.core.Statements.Release;
import dev.outbox.store.jdbc.Dialect;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** A dialect that does some things otherwise than another: a wrong one, or one that is watched. */
class Variant {
  List<Lease> lease(Dialect right, Handle handle, UUID owner, ClaimRequest request, int most) {
    return right.lease(handle, owner, request, most);
  }

  List<Held> lockHeld(Dialect right, Handle handle, UUID owner, Collection<Lease> leases) {
    return right.lockHeld(handle, owner, leases);
  }

  Pending readPending(Dialect right, Handle handle, List<Lease> leases, Limits limits) {
    return right.readPending(handle, leases, limits);
  }

  void release(Dialect right, Handle handle, UUID owner, List<Release> releases) {
    right.release(handle, owner, releases);
  }

  void restoreBlockedKeys(Dialect right, Handle handle, List<Integer> buckets) {
    right.restoreBlockedKeys(handle, buckets);
  }

  boolean requeue(Dialect right, Handle handle, long sequence) throws SQLException {
    return right.requeue(handle, sequence);
  }

  /** What this makes of a dialect. */
  @SuppressWarnings("unchecked")
  final Dialect of(Dialect right) {
    return (Dialect)
        Proxy.newProxyInstance(
            Dialect.class.getClassLoader(),
            new Class<?>[] {Dialect.class},
            (proxy, method, a) ->
                switch (method.getName()) {
                  case "lease" ->
                      lease(right, (Handle) a[0], (UUID) a[1], (ClaimRequest) a[2], (Integer) a[3]);
                  case "lockHeld" ->
                      lockHeld(right, (Handle) a[0], (UUID) a[1], (Collection<Lease>) a[2]);
                  case "readPending" ->
                      readPending(right, (Handle) a[0], (List<Lease>) a[1], (Limits) a[2]);
                  case "release" -> {
                    release(right, (Handle) a[0], (UUID) a[1], (List<Release>) a[2]);
                    yield null;
                  }
                  case "restoreBlockedKeys" -> {
                    restoreBlockedKeys(right, (Handle) a[0], (List<Integer>) a[1]);
                    yield null;
                  }
                  case "requeue" -> requeue(right, (Handle) a[0], (Long) a[1]);
                  default -> {
                    try {
                      yield method.invoke(right, a);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  }
                });
  }
}
