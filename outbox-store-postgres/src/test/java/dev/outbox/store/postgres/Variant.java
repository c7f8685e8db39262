package dev.outbox.store.postgres;

import dev.outbox.spi.store.Claim;
import dev.outbox.store.core.internal.Administration;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Limits;
import dev.outbox.store.core.internal.Database.Pending;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.jdbc.internal.SqlDialect;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** A dialect that does some things otherwise than another: a wrong one, or one that is watched. */
class Variant {
  List<Lease> lease(
      Leases<Handle> right, Handle handle, UUID claimId, Claim.Request request, int most) {
    return right.lease(handle, claimId, request, most);
  }

  Pending readPending(Reads<Handle> right, Handle handle, List<Lease> leases, Limits limits) {
    return right.readPending(handle, leases, limits);
  }

  void restoreBlockedKeys(Administration<Handle> right, Handle handle, List<Integer> buckets) {
    right.restoreBlockedKeys(handle, buckets);
  }

  /** Of one dead letter. */
  Set<Long> requeue(Administration<Handle> right, Handle handle, long sequence)
      throws SQLException {
    return right.requeue(handle, Set.of(sequence), null);
  }

  /** What this makes of a dialect. */
  final SqlDialect of(SqlDialect right) {
    return new SqlDialect(right.server(), right.append(), of(right.database()), right.archive());
  }

  @SuppressWarnings("unchecked")
  private Database<Handle> of(Database<Handle> right) {
    return new Database<>(
        proxy(
            Leases.class,
            right.leases(),
            (method, a) ->
                method.equals("lease")
                    ? lease(
                        right.leases(),
                        (Handle) a[0],
                        (UUID) a[1],
                        (Claim.Request) a[2],
                        (Integer) a[3])
                    : null),
        proxy(
            Reads.class,
            right.reads(),
            (method, a) ->
                method.equals("readPending")
                    ? readPending(right.reads(), (Handle) a[0], (List<Lease>) a[1], (Limits) a[2])
                    : null),
        right.writes(),
        proxy(
            Administration.class,
            right.administration(),
            (method, a) ->
                switch (method) {
                  case "restoreBlockedKeys" -> {
                    restoreBlockedKeys(right.administration(), (Handle) a[0], (List<Integer>) a[1]);
                    yield DONE;
                  }
                  case "requeue" ->
                      requeue(
                          right.administration(),
                          (Handle) a[0],
                          (Long) ((Set<?>) a[1]).iterator().next());
                  default -> null;
                }),
        right.inspection());
  }

  /** What a method without a result gives. */
  private static final Object DONE = new Object();

  private interface Instead {
    Object call(String method, Object[] arguments) throws Throwable;
  }

  /** Calls what is given instead; where that gives null, what is right. */
  private static <T> T proxy(Class<T> type, T right, Instead instead) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, a) -> {
              Object result = instead.call(method.getName(), a);
              if (result != null) {
                return result == DONE ? null : result;
              }
              try {
                return method.invoke(right, a);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
