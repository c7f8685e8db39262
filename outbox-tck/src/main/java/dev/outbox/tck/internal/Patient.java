package dev.outbox.tck.internal;

import dev.outbox.TransientOutboxException;
import dev.outbox.tck.FailsOnConflict;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The test class of a store or an inbox as the tests know it. Whatever they call of it, and of what
 * it makes, runs with {@link Patience}.
 *
 * @param <T> the transaction's type
 * @param <S> the store's or the inbox's type
 */
public abstract class Patient<T, S> implements Frame.Tested {
  /** What a fixture does besides the three methods may take so many times the patience. */
  private static final int FOR_MORE = 3;

  /** What usually is the cause when a call does not return. */
  public record Causes(
      String reset, String transaction, String fixture, String store, String rule) {}

  private final Suite<T, S> suite;
  private final Causes causes;
  private final Numbers numbers = new Numbers();
  private final Patience patience;
  private @Nullable S store;

  /**
   * @param suite the test class
   * @param patience of the whole run
   * @param causes with the rule that is broken when a fixture hangs
   */
  protected Patient(Suite<T, S> suite, Patience patience, Causes causes) {
    this.suite = suite;
    this.patience = patience;
    this.causes = causes;
  }

  // ---- the test class, with patience

  public final Duration shortTime() {
    return suite.shortTime();
  }

  public final int load() {
    return suite.load();
  }

  /** Removes all that is stored. */
  public void reset() {
    run("reset()", causes.reset(), suite::reset);
  }

  public final void inTransaction(Consumer<T> work) {
    run("inTransaction()", causes.transaction(), () -> suite.inTransaction(work));
  }

  /** Does it in a transaction that commits, and gives what it gave. */
  public final <R> R commit(Function<T, R> work) {
    List<R> given = new ArrayList<>();
    inTransaction(t -> given.add(work.apply(t)));
    return given.get(0);
  }

  /** A transaction in a thread of its own, so that it can stay open. */
  public final OpenWork<T> open() {
    return new OpenWork<>(this);
  }

  static final class RollBack extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** Does it in a transaction that rolls back, and gives what it gave. */
  public final <R> R rollBack(Function<T, R> work) {
    List<R> given = new ArrayList<>();
    try {
      inTransaction(
          t -> {
            given.add(work.apply(t));
            throw new RollBack();
          });
    } catch (RollBack e) {
      // as it was told
    }
    return given.get(0);
  }

  private void run(String what, String cause, Runnable action) {
    patience.run(what, cause, suite.patience(), action::run);
  }

  public final S createStore() {
    return patient(
        patience.call(
            "createStore()",
            "the database does not answer, or all connections are in use",
            suite.patience(),
            suite::createStore));
  }

  // ---- a test's store

  /** An empty store. */
  @Override
  public void prepare() {
    reset();
    numbers.forget();
    store = createStore();
  }

  @Override
  public void giveBack() {}

  public final void use(S other) {
    store = other;
  }

  public final S store() {
    return Objects.requireNonNull(store, "no store: createStore() was not called yet");
  }

  /** The store as one that has an optional ability. */
  public final <A> A ability(Class<A> type) {
    if (!type.isInstance(store)) {
      throw notUnlocked("the store", type.getSimpleName());
    }
    return type.cast(store);
  }

  /** In the order of their append. */
  @Override
  public final Numbers numbers() {
    return numbers;
  }

  // ---- waits

  /** How long to wait now for what has to happen. */
  public final Duration patience() {
    return patience.of(suite.patience());
  }

  public final Patience waits() {
    return patience;
  }

  /** Waits until the condition gives something. */
  public final <R> R await(String what, Supplier<@Nullable R> condition) {
    Duration limit = patience();
    R result = patience.await(suite.patience(), condition);
    if (result == null) {
      throw new AssertionError("waited %s in vain for %s".formatted(Patience.seconds(limit), what));
    }
    return result;
  }

  /** Gives what has to wait for another transaction time to end without. */
  public final void giveTime(Future<?> begun) {
    try {
      new Deadline(shortTime()).get(begun);
    } catch (TimeoutException | ExecutionException e) { // whoever asks for its result hears of it
    }
  }

  // ---- what unlocks tests

  /**
   * Of a test that runs when something is implemented.
   *
   * @param who as "the test class"
   * @param ability what, as authors write it
   */
  public static TestAbortedException notUnlocked(String who, String ability) {
    return new TestAbortedException("skipped: runs when %s implements %s".formatted(who, ability));
  }

  public final boolean is(Class<?> fixture) {
    return fixture.isInstance(suite);
  }

  /** This test class as the fixture that unlocks a test. */
  @SuppressWarnings("unchecked")
  public final <F> F fixture(Class<? super F> type) {
    if (!is(type)) {
      throw notUnlocked("the test class", type.getSimpleName());
    }
    return (F) patient(type, suite);
  }

  /** Whether the work of a transaction that failed can run again. */
  public final boolean isToRunAgain(RuntimeException failure) {
    return failure instanceof TransientOutboxException
        || (suite instanceof FailsOnConflict fixture && fixture.isToRunAgain(failure));
  }

  /** Another fixture, with patience. */
  public final <F> F patient(Class<F> type, Object fixture) {
    return type.cast(
        proxy(fixture, Set.of(type), suite.patience().multipliedBy(FOR_MORE), causes.fixture()));
  }

  // ---- calls

  public final <R> R call(String what, Callable<R> action) {
    return patience.call(what, causes.store(), suite.patience(), action);
  }

  /** The same of what gives nothing. */
  protected final void run(String what, Patience.Action action) {
    patience.run(what, causes.store(), suite.patience(), action);
  }

  /** A store, or what it made, with patience. */
  @SuppressWarnings("unchecked")
  protected final <A> A patient(A actual) {
    Objects.requireNonNull(actual, "createStore() returned null");
    return (A) proxy(actual, interfaces(actual.getClass()), suite.patience(), causes.store());
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
  protected void passing(Method method, @Nullable Object argument) {}

  /** Knows that a method of what the store or the fixture itself made has returned. */
  protected void returned(Method method, Object actual) {}

  /** What the store or the fixture itself made. */
  private @Nullable Object actual(@Nullable Object known) {
    return known != null
            && Proxy.isProxyClass(known.getClass())
            && Proxy.getInvocationHandler(known) instanceof Patient<?, ?>.Handler handler
        ? handler.actual
        : known;
  }

  /** The same, with patience. */
  protected abstract @Nullable Object known(@Nullable Object result);

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
        throws IllegalAccessException {
      if (method.getDeclaringClass() == Object.class) {
        return call(actual, method, arguments);
      }
      Object[] actuals = arguments == null ? new Object[0] : arguments.clone();
      for (int i = 0; i < actuals.length; i++) {
        passing(method, actuals[i]);
        actuals[i] = actual(actuals[i]);
      }
      @Nullable Object result;
      try {
        result = patience.call(method.getName(), cause, limit, () -> call(actual, method, actuals));
      } catch (Patience.Hung e) {
        if (cause.equals(causes.fixture())) {
          throw new Patience.OtherRuleBroken(causes.rule(), e);
        }
        throw e;
      }
      returned(method, actual);
      return known(result);
    }
  }

  /** Calls the method, and throws what it throws. */
  public static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments)
      throws IllegalAccessException {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw Patience.unchecked(e.getCause());
    }
  }
}
