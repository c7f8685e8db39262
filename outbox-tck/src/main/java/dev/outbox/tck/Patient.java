package dev.outbox.tck;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The test class of a store or an inbox as the tests know it. Whatever they call of it, and of what
 * it makes, runs with {@link Patience}.
 */
abstract class Patient<T> {

  /** What a fixture does besides the three methods may take so many times the patience. */
  private static final int FOR_MORE = 3;

  /** What usually is the cause when a call does not return. */
  record Causes(String reset, String transaction, String fixture, String store, String rule) {}

  private final Object tck;
  private final Causes causes;
  private Patience patience = new Patience();

  /**
   * @param tck the test class
   * @param causes with the rule that is broken when a fixture hangs
   */
  Patient(Object tck, Causes causes) {
    this.tck = tck;
    this.causes = causes;
  }

  // ---- what the test class says

  abstract Duration fullPatience();

  abstract Duration shortTime();

  abstract void resetNow();

  abstract void inTransactionNow(Consumer<T> work);

  // ---- the same, with patience

  /** Removes all that is stored. */
  void reset() {
    call(
        "reset()",
        causes.reset(),
        fullPatience(),
        () -> {
          resetNow();
          return true;
        });
  }

  void inTransaction(Consumer<T> work) {
    call(
        "inTransaction()",
        causes.transaction(),
        fullPatience(),
        () -> {
          inTransactionNow(work);
          return true;
        });
  }

  /** How long to wait now for what has to happen. */
  Duration patience() {
    return patience.of(fullPatience());
  }

  Patience waits() {
    return patience;
  }

  /** The patience of a whole run. */
  void begin(Patience ofTheRun) {
    patience = ofTheRun;
    patience.begin();
  }

  /** Waits until the condition gives something. */
  <R> R await(String what, Supplier<@Nullable R> condition) {
    return await(what, condition, () -> "");
  }

  /**
   * The same.
   *
   * @param why for the failure: what is the cause when it was in vain
   */
  <R> R await(String what, Supplier<@Nullable R> condition, Supplier<String> why) {
    Duration limit = patience();
    long begin = System.nanoTime();
    Deadline deadline = new Deadline(limit);
    while (true) {
      R result = condition.get();
      if (result != null) {
        patience.waited(System.nanoTime() - begin);
        return result;
      }
      if (deadline.isOver()) {
        patience.waitedInVain();
        throw new AssertionError(
            "waited %s in vain for %s%s".formatted(Patience.seconds(limit), what, why.get()));
      }
      deadline.pause(Duration.ofMillis(5));
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
      throw new NotUnlocked("the test class", type);
    }
    return (F) patient(type, tck);
  }

  /** The same of another fixture. */
  <F> F patient(Class<F> type, Object fixture) {
    return type.cast(
        proxy(fixture, Set.of(type), fullPatience().multipliedBy(FOR_MORE), causes.fixture()));
  }

  /** A store as one that has an optional ability. */
  static <A> A ability(Class<A> type, @Nullable Object store) {
    if (!type.isInstance(store)) {
      throw new NotUnlocked("the store", type);
    }
    return type.cast(store);
  }

  // ---- calls

  /** Does something that may not return, with patience. */
  <R> R call(String what, Callable<R> action) {
    return call(what, causes.store(), fullPatience(), action);
  }

  <R> R call(String what, String cause, Duration limit, Callable<R> action) {
    try {
      return patience.call(what, cause, limit, action);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** A store, or what it made, with patience. */
  Object patient(Object actual) {
    Objects.requireNonNull(actual, "createStore() returned null");
    return proxy(actual, interfaces(actual.getClass()), fullPatience(), causes.store());
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

  /** Looks at what is passed to a method. */
  void passing(Method method, @Nullable Object argument) {}

  /** What the store or the fixture itself made. */
  @Nullable Object actual(@Nullable Object known) {
    return known != null
            && Proxy.isProxyClass(known.getClass())
            && Proxy.getInvocationHandler(known) instanceof Patient<?>.Handler handler
        ? handler.actual
        : known;
  }

  /** The same, with patience. */
  @Nullable Object known(@Nullable Object result) {
    return result;
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
        passing(method, actuals[i]);
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
        if (cause.equals(causes.fixture())) {
          throw new StoreTests.OtherRuleBroken(causes.rule(), e);
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
}
