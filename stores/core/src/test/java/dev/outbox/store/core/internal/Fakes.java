package dev.outbox.store.core.internal;

import dev.outbox.store.core.internal.Database.Leases;
import dev.outbox.store.core.internal.Database.Reads;
import dev.outbox.store.core.internal.Database.Writes;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** A database of which one method answers all that is asked. */
final class Fakes {
  private Fakes() {}

  @SuppressWarnings("unchecked")
  static Database<String> database(InvocationHandler answers) {
    Object all =
        Proxy.newProxyInstance(
            Database.class.getClassLoader(),
            new Class<?>[] {
              Leases.class, Reads.class, Writes.class, Administration.class, Inspection.class
            },
            answers);
    return new Database<>(
        (Leases<String>) all,
        (Reads<String>) all,
        (Writes<String>) all,
        (Administration<String>) all,
        (Inspection<String>) all);
  }
}
