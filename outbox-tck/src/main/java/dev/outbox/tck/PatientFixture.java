package dev.outbox.tck;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Decision;
import dev.outbox.spi.KeepingStore.Keeper;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.OutboxStore.Settled;
import dev.outbox.spi.StoredMessage;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * A store's test class as the tests know it. Whatever they call of it and of its stores runs with
 * {@link Patience}. Claims that a test leaves open are given back after it, so that a store that
 * holds a connection for each has them again.
 */
final class PatientFixture<T> {

  /** What a fixture does besides the three methods may take so many times the patience. */
  private static final int FOR_MORE = 3;

  /** So many claims of nothing may be open. */
  private static final int MOST_EMPTY = 2;

  private final OutboxStoreTck<T> tck;
  private final Numbers numbers = new Numbers();
  private final Set<PatientClaim> open = ConcurrentHashMap.newKeySet();
  private final Queue<Keeper> keepers = new ConcurrentLinkedQueue<>();
  private final Queue<PatientClaim> empty = new ConcurrentLinkedQueue<>();
  private Patience patience = new Patience();
  private @Nullable OutboxStore<T> store;

  PatientFixture(OutboxStoreTck<T> tck) {
    this.tck = tck;
  }

  // ---- the three methods

  /** Gives back what is still claimed, and makes the store empty. */
  void reset() {
    giveBack();
    call(
        "reset()",
        "a claim that was never settled still holds locks. Commit the claim; a lease must not be an"
            + " open transaction (C4)",
        tck.patience(),
        () -> {
          tck.reset();
          return true;
        });
  }

  OutboxStore<T> createStore() {
    return patient(
        call(
            "createStore()",
            "the database does not answer, or all connections are in use",
            tck.patience(),
            tck::createStore));
  }

  void inTransaction(Consumer<T> work) {
    call(
        "inTransaction()",
        "all connections are in use, or the commit waits for a lock. A claim must not keep a"
            + " connection or a lock until it is settled (C4)",
        tck.patience(),
        () -> {
          tck.inTransaction(work);
          return true;
        });
  }

  // ---- settings

  /** How long to wait now for what has to happen. */
  Duration patience() {
    return patience.of(tck.patience());
  }

  Patience waits() {
    return patience;
  }

  Duration shortTime() {
    return tck.shortTime();
  }

  int load() {
    return tck.load();
  }

  // ---- a test's store

  /** The patience of a whole run. */
  void begin(Patience ofTheRun) {
    patience = ofTheRun;
    patience.begin();
  }

  /** An empty store. */
  void prepare() {
    reset();
    numbers.forget();
    store = createStore();
  }

  void use(OutboxStore<T> other) {
    store = other;
  }

  OutboxStore<T> store() {
    return Objects.requireNonNull(store, "no store: createStore() was not called yet");
  }

  /** Numbers of messages, in the order of their append. */
  Numbers numbers() {
    return numbers;
  }

  /** Ends what a test has left open. */
  void giveBack() {
    List<PatientClaim> left = new ArrayList<>(open);
    open.clear();
    empty.clear();
    try {
      left.forEach(PatientClaim::giveBack);
      for (Keeper keeper = keepers.poll(); keeper != null; keeper = keepers.poll()) {
        letGo(keeper);
      }
    } catch (Patience.Hung e) {
      // Whoever needs what is still held says so.
    }
    patience.awaitGivenUp();
  }

  private void letGo(Keeper keeper) {
    try {
      boolean ignored =
          call(
              "close",
              () -> {
                keeper.close();
                return true;
              });
    } catch (RuntimeException e) {
      // As with a claim: the schema may be gone.
    }
  }

  // ---- what unlocks tests

  boolean is(Class<?> fixture) {
    return fixture.isInstance(tck);
  }

  /** This test class as the fixture that unlocks a test. */
  @SuppressWarnings("unchecked")
  <F> F fixture(Class<? super F> type) {
    if (!is(type)) {
      throw new TestAbortedException(
          "skipped: runs when the test class implements " + type.getSimpleName());
    }
    return (F) patient(type, tck);
  }

  /** The same of another fixture. */
  <F> F patient(Class<F> type, Object fixture) {
    return type.cast(
        proxy(fixture, Set.of(type), tck.patience().multipliedBy(FOR_MORE), FIXTURE_HANGS));
  }

  /** The store as one that has an optional ability. */
  <A> A ability(Class<A> type) {
    if (!type.isInstance(store)) {
      throw new TestAbortedException(
          "skipped: runs when the store implements " + type.getSimpleName());
    }
    return type.cast(store);
  }

  // ---- calls

  private static final String FIXTURE_HANGS =
      "it waits for a lock, or for a connection. Does a claim keep one until it is settled? A lease"
          + " must not be an open transaction (C4)";

  private static final String STORE_HANGS =
      "it waits for a lock of an open transaction or of another claim, or for a connection";

  /** Does something that may not return, with patience. */
  <R> R call(String what, Callable<R> action) {
    return call(what, STORE_HANGS, tck.patience(), action);
  }

  private <R> R call(String what, String cause, Duration limit, Callable<R> action) {
    try {
      return patience.call(what, cause, limit, action);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("unchecked")
  private OutboxStore<T> patient(OutboxStore<T> actual) {
    Objects.requireNonNull(actual, "createStore() returned null");
    return (OutboxStore<T>)
        proxy(actual, interfaces(actual.getClass()), tck.patience(), STORE_HANGS);
  }

  private static Set<Class<?>> interfaces(@Nullable Class<?> type) {
    Set<Class<?>> all = new LinkedHashSet<>();
    for (Class<?> t = type; t != null; t = t.getSuperclass()) {
      for (Class<?> one : t.getInterfaces()) {
        if (Modifier.isPublic(one.getModifiers())) {
          all.add(one);
        }
        all.addAll(interfaces(one));
      }
    }
    return all;
  }

  private Object proxy(Object actual, Set<Class<?>> types, Duration limit, String cause) {
    return Proxy.newProxyInstance(
        actual.getClass().getClassLoader(),
        types.toArray(Class<?>[]::new),
        new Handler(actual, limit, cause));
  }

  private final class Handler implements InvocationHandler {
    private final Object actual;
    private final Duration limit;
    private final String cause;

    Handler(Object actual, Duration limit, String cause) {
      this.actual = actual;
      this.limit = limit;
      this.cause = cause;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
        throws Throwable {
      if (method.getDeclaringClass() == Object.class) {
        return invoke(method, arguments);
      }
      Object[] actuals = arguments == null ? new Object[0] : arguments.clone();
      for (int i = 0; i < actuals.length; i++) {
        number(method, actuals[i]);
        actuals[i] = actual(actuals[i]);
      }
      Object[] result = new Object[1];
      try {
        boolean ignored =
            patience.call(
                method.getName(),
                cause,
                limit,
                () -> {
                  result[0] = invoke(method, actuals);
                  return true;
                });
      } catch (Patience.Hung e) {
        if (cause.equals(FIXTURE_HANGS)) {
          throw new StoreTests.OtherRuleBroken("C4", e);
        }
        throw e;
      }
      return known(result[0]);
    }

    private @Nullable Object invoke(Method method, Object @Nullable [] arguments) throws Exception {
      try {
        return method.invoke(actual, arguments);
      } catch (InvocationTargetException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw (Exception) Objects.requireNonNull(e.getCause());
      }
    }
  }

  private void number(Method method, @Nullable Object argument) {
    if (method.getName().equals("append")) {
      if (argument instanceof OutboxMessage message) {
        numbers.add(message.id());
      } else if (argument instanceof List<?> messages) {
        messages.forEach(message -> number(method, message));
      }
    } else if (argument instanceof RawRows.RawRow row) {
      numbers.add(row.id());
    }
  }

  /** What the store or the fixture itself made. */
  private static @Nullable Object actual(@Nullable Object known) {
    if (known instanceof PatientFixture<?>.PatientClaim claim) {
      return claim.actual;
    }
    if (known != null
        && Proxy.isProxyClass(known.getClass())
        && Proxy.getInvocationHandler(known) instanceof PatientFixture<?>.Handler handler) {
      return handler.actual;
    }
    return known;
  }

  /** The same, with patience. */
  @SuppressWarnings("unchecked")
  private @Nullable Object known(@Nullable Object result) {
    if (result instanceof Claim claim) {
      return new PatientClaim(claim).counted();
    } else if (result instanceof Settled settled) {
      return new Settled(settled.lost(), new PatientClaim(settled.next()).counted());
    } else if (result instanceof CountsWork.Counted<?> counted) {
      return new CountsWork.Counted<>(
          Objects.requireNonNull(known(counted.result())), counted.work());
    } else if (result instanceof Keeper keeper) {
      keepers.add(keeper);
      return proxy(keeper, Set.of(Keeper.class), tck.patience(), STORE_HANGS);
    } else if (result instanceof OutboxStore<?> other) {
      return patient((OutboxStore<T>) other);
    }
    return result;
  }

  private final class PatientClaim implements Claim {
    private final Claim actual;

    PatientClaim(Claim actual) {
      this.actual = actual;
      open.add(this);
    }

    /** Who waits for something claims nothing again and again: few of those stay open. */
    PatientClaim counted() {
      if (actual.messages().isEmpty()) {
        empty.add(this);
        PatientClaim oldest = empty.size() > MOST_EMPTY ? empty.poll() : null;
        if (oldest != null && open.remove(oldest)) {
          oldest.giveBack();
        }
      }
      return this;
    }

    @Override
    public List<StoredMessage> messages() {
      return actual.messages();
    }

    @Override
    public boolean pollAgain() {
      return actual.pollAgain();
    }

    @Override
    public Set<Long> renew(Duration lease) {
      return call("renew", () -> actual.renew(lease));
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      Set<Long> lost = call("settle", () -> actual.settle(decisions));
      open.remove(this);
      return lost;
    }

    private void giveBack() {
      try {
        Set<Long> ignored = call("settle", () -> actual.settle(Map.of()));
      } catch (RuntimeException e) {
        // It may be settled already, or the schema gone: all that matters is that nothing is held.
      }
    }

    @Override
    public String toString() {
      return actual.toString();
    }
  }
}
