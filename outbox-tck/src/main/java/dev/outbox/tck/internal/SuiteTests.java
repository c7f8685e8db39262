package dev.outbox.tck.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.OutboxMessage;
import dev.outbox.SchemaException;
import dev.outbox.Texts;
import dev.outbox.spi.store.SchemaStore;
import dev.outbox.tck.SchemaFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.assertj.core.api.AbstractBooleanAssert;
import org.assertj.core.api.AbstractCollectionAssert;
import org.assertj.core.api.AbstractIntegerAssert;
import org.assertj.core.api.AbstractLongAssert;
import org.assertj.core.api.AbstractStringAssert;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ListAssert;
import org.assertj.core.api.ObjectAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * What the tests of stores and of inboxes have in common. What a store throws becomes the failure
 * of an assertion in {@link Frame}.
 *
 * @param <P> the test class as the tests call it
 */
public abstract class SuiteTests<P extends Patient<?, ?>> {
  /** Far enough ahead never to come while the suite runs. */
  protected static final Duration LONG = Duration.ofHours(6);

  /** Not over when a test is, and soon if it is taken for milliseconds, or a clock is off. */
  protected static final Duration SOME = Duration.ofSeconds(30);

  /** What the suite waits for is the end of a delay, a lease or a window nearly always. */
  protected static final String OTHER_CLOCK =
      ": is the time until then computed by another clock than the one that it is compared with? (T1)";

  /** Texts that are easily changed on the way. */
  protected static final List<String> NASTY =
      List.of(
          "plain",
          " space before",
          "space after ",
          "two  spaces",
          "tab\tand\nnew line\r\n",
          "quotes ' \" ` and \\ backslash",
          "%like_ [class] $1 ${x} :name ? {0} #{y}",
          "'; DROP TABLE outbox_message; --",
          "null",
          "é composed, e\u0301 decomposed",
          "\uFEFFbyte order mark",
          "\u202Eright to left\u202C",
          "zero\u200Bwidth",
          "control \u0001\u001F\u007F\u0085",
          "\uD83D\uDE00".repeat(OutboxMessage.MAX_TEXT));

  protected P tck;

  /** For JUnit; {@link Frame} sets what is missing. */
  @SuppressWarnings("NullAway.Init")
  protected SuiteTests() {}

  protected SuiteTests(P tck) {
    this.tck = tck;
  }

  /** The same random load again with {@code -Doutbox.tck.seed}. */
  protected static long loadSeed() {
    return Long.getLong("outbox.tck.seed", System.nanoTime());
  }

  /** The length of a lease, lock or delay of which nothing matters but that it ends. */
  protected final Duration soon() {
    return tck.shortTime().dividedBy(3);
  }

  /**
   * Lets about three such times pass. Only where a test may not fail either when less has passed:
   * it then shows less.
   */
  protected final void letLeaseEnd() {
    LockSupport.parkNanos(soon().toNanos() * 3);
  }

  /** Lets pass what {@link #SOME} time would be in milliseconds. */
  protected final void letSomeMillisecondsPass() {
    LockSupport.parkNanos(SOME.dividedBy(500).toNanos());
  }

  /**
   * What another rule demands and this test builds on. When it is broken this test says so and is
   * aborted: that rule's own test fails.
   */
  protected static void requires(String rule, Runnable assertions) {
    requires(
        rule,
        () -> {
          assertions.run();
          return true;
        });
  }

  /** The same of what gives something. */
  protected static <R> R requires(String rule, Supplier<R> assertions) {
    try {
      return assertions.get();
    } catch (Patience.Hung | TestAbortedException e) {
      throw e;
    } catch (AssertionError | RuntimeException e) {
      throw new Patience.OtherRuleBroken(rule, e);
    }
  }

  // ---- what is expected: its name first, as in the sentence that a failure is

  protected static AbstractBooleanAssert<?> expect(String what, @Nullable Boolean actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static AbstractIntegerAssert<?> expect(String what, @Nullable Integer actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static AbstractLongAssert<?> expect(String what, @Nullable Long actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static AbstractStringAssert<?> expect(String what, @Nullable String actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static <E> ListAssert<E> expect(String what, List<E> actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static <E> AbstractCollectionAssert<?, ?, E, ?> expect(
      String what, Collection<E> actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static AbstractThrowableAssert<?, ?> expect(String what, @Nullable Throwable actual) {
    return assertThat(actual).as("%s", what);
  }

  protected static <A> ObjectAssert<A> expect(String what, @Nullable A actual) {
    return assertThatObject(actual).as("%s", what);
  }

  /** That it is no argument, and that this is said. */
  protected static void assertRefused(String what, String says, ThrowingCallable call) {
    assertThatThrownBy(call, "%s", what)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(says);
  }

  protected static AssertionFailedError failed(String sentence, Object... values) {
    return new AssertionFailedError(sentence.formatted(values));
  }

  /** Fails with this sentence unless it is so. */
  public static void check(boolean so, String otherwise, Object... values) {
    if (!so) {
      throw failed(otherwise, values);
    }
  }

  /** Skips the test with this sentence unless it is so. */
  protected static void skipUnless(boolean so, String otherwise, Object... values) {
    if (!so) {
      throw new TestAbortedException("skipped: " + otherwise.formatted(values));
    }
  }

  /** The text in quotes, with what does not show, or looks like something else, escaped. */
  public static String shown(String text) {
    return Texts.json(text, 127);
  }

  // ---- threads

  /**
   * Does it with each of these, in threads that begin at the same time, and gives what came. What
   * fails first is told at once.
   */
  protected final <E, R> List<R> atOnce(String what, List<E> each, Function<E, R> action) {
    CyclicBarrier start = new CyclicBarrier(each.size());
    CompletableFuture<R> first = new CompletableFuture<>();
    List<InThread<R>> running = new ArrayList<>();
    for (E one : each) {
      InThread<R> thread =
          new InThread<>(
              what,
              () -> {
                start.await(tck.patience().toNanos(), TimeUnit.NANOSECONDS);
                return action.apply(one);
              });
      thread.exceptionally(
          e -> {
            first.completeExceptionally(e);
            return null;
          });
      running.add(thread);
    }
    CompletableFuture<Void> all = CompletableFuture.allOf(running.toArray(InThread[]::new));
    try {
      new Deadline(tck.patience().multipliedBy(3)).get(CompletableFuture.anyOf(first, all));
    } catch (TimeoutException e) {
      tck.waits().waitedInVain();
      throw failed("one %s of several at once did not come to its end", what);
    } catch (ExecutionException e) {
      throw new AssertionFailedError(
          "one %s of several at once threw %s".formatted(what, e.getCause()), e.getCause());
    }
    return running.stream().map(CompletableFuture::join).toList();
  }

  // ---- the fixture

  /** That it runs the work in a transaction once, and rethrows what it throws. */
  protected final void assertRunsTheWork() {
    AtomicInteger runs = new AtomicInteger();
    tck.inTransaction(t -> runs.incrementAndGet());
    assertThat(runs).as("runs of the work given to inTransaction").hasValue(1);
    IllegalStateException thrown = new IllegalStateException("thrown by the work");
    assertThatThrownBy(
            () ->
                tck.inTransaction(
                    t -> {
                      throw thrown;
                    }),
            "what inTransaction throws when its work throws")
        .isSameAs(thrown);
  }

  // ---- the schema

  protected final void damaged(Consumer<SchemaFixture> damage, Runnable test) {
    SchemaFixture fixture = tck.fixture(SchemaFixture.class);
    try {
      damage.accept(fixture);
      test.run();
    } finally {
      fixture.restoreSchema();
    }
  }

  /** That what is wrong with the schema is said in a sentence. */
  protected static void assertSaid(String what, Runnable action) {
    expect(what, catchThrowable(action::run))
        .isInstanceOf(SchemaException.class)
        .satisfies(e -> expect(what, e.getMessage()).hasSizeBetween(20, 500));
  }

  /** That migrate and verify find nothing to do. */
  protected final void assertMigrated() {
    SchemaStore schema = tck.ability(SchemaStore.class);
    schema.migrate();
    schema.verify();
    expect("ddl", schema.ddl()).isNotBlank();
  }
}
