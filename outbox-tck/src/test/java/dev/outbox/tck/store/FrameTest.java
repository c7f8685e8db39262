package dev.outbox.tck.store;

import static dev.outbox.tck.Failure.results;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import dev.outbox.Appended;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import dev.outbox.store.memory.MemoryOutboxStore;
import dev.outbox.store.memory.MemoryStoreFixture;
import dev.outbox.store.memory.MemoryTransaction;
import dev.outbox.tck.Failure;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Sentence;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineExecutionResults;

/** Whatever a store or its fixture does, the run ends, and says what was wrong. */
class FrameTest {

  /** Never counted down: whoever waits for it hangs. */
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private static void hang() {
    try {
      NEVER.await();
    } catch (InterruptedException e) {
      hang(); // as a driver that waits for its server
    }
  }

  abstract static class Suite extends MemoryStoreFixture {
    @Override
    protected Duration shortTime() {
      return Duration.ofMillis(15);
    }

    @Override
    protected Duration patience() {
      return Duration.ofSeconds(2); // what is left where others waited in vain before
    }

    @Override
    protected int load() {
      return 50;
    }
  }

  /** The suite on a memory store behind another, which claims in another way. */
  abstract static class ClaimsOtherwise extends Suite {
    abstract Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request);

    @Override
    protected OutboxStore<MemoryTransaction> createStore() {
      OutboxStore<MemoryTransaction> behind = super.createStore();
      return new OutboxStore<>() {
        @Override
        public Appended append(MemoryTransaction transaction, List<OutboxMessage> messages) {
          return behind.append(transaction, messages);
        }

        @Override
        public Claim claim(Claim.Request request) {
          return ClaimsOtherwise.this.claim(behind, request);
        }
      };
    }
  }

  /** A claim behind another. */
  static class BehindClaim implements Claim {
    private final Claim behind;

    BehindClaim(Claim behind) {
      this.behind = behind;
    }

    @Override
    public List<StoredMessage> messages() {
      return behind.messages();
    }

    @Override
    public Set<Long> renew(Duration lease) {
      return behind.renew(lease);
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      return behind.settle(decisions);
    }
  }

  private static List<String> failures(EngineExecutionResults results) {
    return Failure.of(results).stream().map(failure -> failure.thrown().getMessage()).toList();
  }

  private static List<String> skipped(EngineExecutionResults results) {
    return results.testEvents().skipped().stream()
        .map(event -> event.getRequiredPayload(String.class))
        .distinct()
        .toList();
  }

  // ---- calls that do not return

  static class ResetHangs extends Suite {
    private static int resets;

    @Override
    protected void reset() {
      if (++resets > 8) {
        hang();
      }
      super.reset();
    }
  }

  @Test
  @DisplayName("when reset() hangs, one test says so and nothing else runs")
  void resetHangs() {
    EngineExecutionResults results = results(ResetHangs.class);
    assertThat(failures(results))
        .singleElement()
        .asString()
        .contains("reset() did not return in 2 s", "open transaction (C4)");
    assertThat(skipped(results)).contains("not run: nothing else runs, because reset() hangs");
    assertThat(results.testEvents().started().count()).isLessThan(10);
  }

  static class ClaimHangs extends ClaimsOtherwise {
    @Override
    Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request) {
      if (request.maxMessages() == 7) {
        hang();
      }
      return behind.claim(request);
    }
  }

  @Test
  @DisplayName("a claim that does not return fails its test, by name, and the others run")
  void claimHangs() {
    EngineExecutionResults results = results(ClaimHangs.class);
    assertThat(failures(results))
        .anySatisfy(
            message ->
                assertThat(message).startsWith("C2: claim did not return in 2 s: it waits for"));
    assertThat(results.testEvents().succeeded().count()).isGreaterThan(90);
  }

  /** Holds one of few connections from each claim to its settle. */
  static class HoldsConnections extends ClaimsOtherwise {
    private static final int FEW = 12;
    private final Semaphore connections = new Semaphore(FEW);

    @Override
    Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request) {
      connections.acquireUninterruptibly();
      return new BehindClaim(behind.claim(request)) {
        private boolean holds = true;

        @Override
        public Set<Long> settle(Map<Long, Decision> decisions) {
          Set<Long> lost = super.settle(decisions);
          if (holds) {
            holds = false;
            connections.release();
          }
          return lost;
        }
      };
    }
  }

  @Test
  @DisplayName("what a test leaves claimed is given back, so that the next has all connections")
  void givenBack() {
    EngineExecutionResults results = results(HoldsConnections.class);
    assertThat(failures(results))
        .as("only relays that crash one after the other leave so many claims open")
        .allMatch(message -> message.startsWith("S6: claim did not return"));
    assertThat(results.testEvents().succeeded().count()).isGreaterThan(100);
  }

  // ---- what is wrong with all of it

  static class NeverRollsBack extends Suite {
    @Override
    protected void inTransaction(Consumer<MemoryTransaction> work) {
      RuntimeException[] thrown = new RuntimeException[1];
      super.inTransaction(
          t -> {
            try {
              work.accept(t);
            } catch (RuntimeException e) {
              thrown[0] = e;
            }
          });
      if (thrown[0] != null) {
        throw thrown[0];
      }
    }
  }

  @Test
  @DisplayName("when a test of the fixture fails, no other test runs")
  void wrongFixture() {
    EngineExecutionResults results = results(NeverRollsBack.class);
    assertThat(failures(results))
        .singleElement()
        .asString()
        .startsWith("A1: either inTransaction does not roll back when its work throws, or");
    assertThat(skipped(results)).containsExactly("not run: the fixture is wrong");
    assertThat(results.testEvents().started().count()).isEqualTo(6);
  }

  static class RunsTwice extends Suite {
    @Override
    protected void inTransaction(Consumer<MemoryTransaction> work) {
      super.inTransaction(work.andThen(work));
    }
  }

  static class NeverCommits extends Suite {
    @Override
    protected void inTransaction(Consumer<MemoryTransaction> work) {
      super.inTransaction(work.andThen(MemoryTransaction::rollback));
    }
  }

  static class HasOneConnection extends Suite {
    @Override
    protected synchronized void inTransaction(Consumer<MemoryTransaction> work) {
      super.inTransaction(work);
    }
  }

  static class ResetsNothing extends Suite {
    @Override
    protected void reset() {}
  }

  @TestFactory
  @DisplayName("what else is wrong with a fixture is told by its tests")
  Stream<DynamicTest> wrongFixtures() {
    return Failure.eachIsTold(
        Map.of(
            RunsTwice.class, "[runs of the work given to inTransaction]",
            NeverCommits.class, "A1: either inTransaction does not commit",
            HasOneConnection.class, "append did not return",
            ResetsNothing.class, "reset() leaves messages"));
  }

  /** As one that empties the table of messages, and not the one of blocked keys. */
  static class LeavesKeysBlocked extends ClaimsOtherwise {
    private final Set<String> blocked = ConcurrentHashMap.newKeySet();

    @Override
    Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request) {
      return new BehindClaim(behind.claim(request)) {
        private final List<StoredMessage> free =
            super.messages().stream().filter(m -> !blocked.contains(m.key())).toList();

        @Override
        public List<StoredMessage> messages() {
          return free;
        }

        @Override
        public Set<Long> settle(Map<Long, Decision> decisions) {
          free.stream()
              .filter(m -> decisions.get(m.sequence()) instanceof Decision.Retry)
              .forEach(m -> blocked.add(m.key()));
          return super.settle(decisions);
        }
      };
    }
  }

  @Test
  @DisplayName("a reset that leaves keys blocked is told so, and no other test runs")
  void leavesKeysBlocked() {
    EngineExecutionResults results = results(LeavesKeysBlocked.class);
    assertThat(failures(results))
        .containsExactly("reset() leaves keys blocked: came 4, that is 1 of 2 expected");
    assertThat(skipped(results)).containsExactly("not run: the fixture is wrong");
  }

  @Test
  @DisplayName("a single test runs without those of the fixture")
  void singleTest() {
    EngineExecutionResults results =
        results(
            selectNestedMethod(
                List.of(NeverRollsBack.class), OutboxStoreTck.Order.class, "delayed"));
    assertThat(results.testEvents().succeeded().count()).isEqualTo(1);
  }

  static class HandsOutNothing extends ClaimsOtherwise {
    @Override
    Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request) {
      return new MemoryOutboxStore().claim(request);
    }
  }

  // ---- what was not checked

  /** As one whose statements do not look like writes. */
  static class BreaksNothing extends Suite {
    @Override
    public boolean breakingAtWrite(int write, Runnable work) {
      work.run();
      return false;
    }
  }

  @Test
  @DisplayName("where no connection broke, those tests say that they have shown nothing")
  void breaksNothing() {
    String reason = "skipped: breakingAtWrite recognised no write, so it broke nothing";
    assertThat(Failure.aborted(results(BreaksNothing.class))).filteredOn(reason::equals).hasSize(3);
  }

  /** The three methods, and nothing else. */
  static class Least extends OutboxStoreTck<MemoryTransaction> {
    private final MemoryOutboxStore store = new MemoryOutboxStore();

    @Override
    protected OutboxStore<MemoryTransaction> createStore() {
      return store;
    }

    @Override
    protected void inTransaction(Consumer<MemoryTransaction> work) {
      store.inTransaction(work);
    }

    @Override
    protected void reset() {
      store.clear();
    }

    @Override
    protected Duration shortTime() {
      return Duration.ofMillis(15);
    }

    @Override
    protected int load() {
      return 50;
    }
  }

  @Test
  @DisplayName("the end of a run names what was not checked, and what unlocks it")
  void notChecked() {
    PrintStream out = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, UTF_8));
    try {
      assertThat(failures(results(Least.class, "outbox.tck.summary=true"))).isEmpty();
    } finally {
      System.setOut(out);
    }
    assertThat(printed.toString(UTF_8).lines())
        .containsSubsequence(
            "  runs when the store implements SchemaStore (E1)",
            "  runs when the test class implements Archives (F3, S7, S8)",
            "  runs when the test class implements AutoCommit (A2)",
            "  runs when the test class implements ClientClocks (T1)")
        .noneMatch(line -> line.contains("DeadLetterStore")) // the memory store is one
        .allSatisfy(line -> assertThat(line).hasSizeLessThan(150));
  }

  /** As one whose driver lacks a class on a way that is rarely gone. */
  static class DiesUnderLoad extends ClaimsOtherwise {
    @Override
    Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request) {
      if (request.worker().equals("worker 1")) {
        throw new NoClassDefFoundError("dev/example/Rare");
      }
      return behind.claim(request);
    }
  }

  @Test
  @DisplayName("a worker that an error ends is seen under load")
  void diesUnderLoad() {
    assertThat(
            failures(
                results(
                    selectNestedMethod(
                        List.of(DiesUnderLoad.class),
                        OutboxStoreTck.Concurrency.class,
                        "underLoad"))))
        .singleElement()
        .asString()
        .startsWith("S4: worker ended by java.lang.NoClassDefFoundError: dev/example/Rare");
  }

  static class InsertsNothing extends Suite {
    @Override
    public void insertRaw(MemoryTransaction transaction, RawRows.RawRow row) {
      throw new IllegalStateException("no such table");
    }
  }

  @Test
  @DisplayName("where no row can be inserted, limits of rows are not shown by that")
  void insertsNothing() {
    assertThat(
            failures(
                results(
                    selectNestedMethod(
                        List.of(InsertsNothing.class), OutboxStoreTck.Fields.class, "rawRows"))))
        .singleElement()
        .asString()
        .contains("insertRaw threw")
        .contains("no such table");
  }

  // ---- time

  /** Gives leases that never end. */
  static class LeasesForEver extends ClaimsOtherwise {
    @Override
    protected Duration patience() {
      return Duration.ofMillis(500); // it waits for many in vain
    }

    @Override
    Claim claim(OutboxStore<MemoryTransaction> behind, Claim.Request request) {
      return behind.claim(
          new Claim.Request(
              request.worker(), request.maxMessages(), request.maxBytes(), Duration.ofDays(1)));
    }
  }

  @Test
  @DisplayName("when failed tests took too long, the rest says how to run all, and then all run")
  void budget() {
    EngineExecutionResults results = results(LeasesForEver.class, "outbox.tck.failing=PT0S");
    assertThat(failures(results)).hasSize(1);
    assertThat(skipped(results))
        .anySatisfy(
            reason ->
                assertThat(reason)
                    .matches(
                        "not run: failed tests took [\\d.]+ s;"
                            + " -Doutbox\\.tck\\.all=true or \\./outbox tck --all runs all"));
    assertThat(
            failures(
                results(LeasesForEver.class, "outbox.tck.failing=PT0S", "outbox.tck.all=true")))
        .hasSizeGreaterThan(5)
        .anySatisfy(message -> assertThat(message).startsWith("C4: waited "))
        .anySatisfy(message -> assertThat(message).contains(" in vain for ", "(T1)"));
  }

  @Test
  @DisplayName("patience gets less after waits in vain, and not where what comes takes long")
  void patience() {
    Duration full = Duration.ofSeconds(20);
    Patience patience = new Patience();
    assertThat(patience.of(full)).isEqualTo(full);
    patience.waitedInVain();
    assertThat(patience.of(full)).isEqualTo(Duration.ofSeconds(5));
    patience.waitedInVain();
    assertThat(patience.of(full)).isEqualTo(Duration.ofSeconds(2));
    assertThat(patience.of(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(1));
    patience.waited(Duration.ofSeconds(3).toNanos());
    assertThat(patience.of(full)).isEqualTo(Duration.ofSeconds(15));
    patience.waited(Duration.ofSeconds(8).toNanos());
    assertThat(patience.of(full)).isEqualTo(full);
  }

  @Test
  @DisplayName("a call in a call does not return: that one is named; the next call is not kept")
  void innermost() throws Exception {
    Patience patience = new Patience();
    patience.begin();
    Duration soon = Duration.ofSeconds(1);
    Throwable hung =
        catchThrowable(
            () ->
                patience.call(
                    "outer",
                    "one",
                    soon,
                    () ->
                        patience.call(
                            "inner",
                            "two",
                            soon,
                            () -> {
                              hang();
                              return true;
                            })));
    assertThat(hung)
        .hasMessage(
            "inner did not return in 1 s: two. If it is only slow, let patience() give it longer");
    assertThat(patience.<String>call("next", "", soon, () -> "done")).isEqualTo("done");
  }

  // ---- rules that build on others

  static class Blames extends Suite {
    static boolean o2Fails;

    @Nested
    class Some extends StoreTests<MemoryTransaction> {
      @Rule("O4")
      @Sentence("builds on another rule")
      void buildsOnO2() {
        List<OutboxMessage> two = committed("k", 2);
        requires("O2", () -> assertCame("both", List.of(two.get(1), two.get(0))).inOrder(two));
      }

      @Rule("O4")
      @Sentence("builds on another rule, and fails by itself")
      void failsItself() {
        requires("O2", () -> Long.parseLong("no number"));
      }

      @Rule("O2")
      @Sentence("is about that rule")
      void isAboutO2() {
        assertThat(o2Fails).as("whether the rule is broken").isFalse();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @DisplayName("a test that builds on a broken rule is skipped, if that rule's own test fails")
  void buildsOn(boolean ownTestFails) {
    Blames.o2Fails = ownTestFails;
    EngineExecutionResults results = results(Blames.class);
    assertThat(Failure.aborted(results))
        .anySatisfy(
            reason ->
                assertThat(reason)
                    .startsWith("skipped: builds on O2, which is broken: ")
                    .contains("both"))
        .anySatisfy(reason -> assertThat(reason).contains(": the test threw java.lang.Number"));
    assertThat(failures(results))
        .singleElement()
        .asString()
        .startsWith(
            ownTestFails
                ? "O2: [whether the rule is broken]"
                : "broken, though none of their own tests failed in this run: O2, says 'O4: builds");
  }

  @Test
  @DisplayName("a store that hands out nothing is told so once")
  void handsOutNothing() {
    EngineExecutionResults results = results(HandsOutNothing.class);
    assertThat(failures(results))
        .first()
        .asString()
        .startsWith("A1: either inTransaction does not commit, or")
        .endsWith("came nothing instead of 1");
    assertThat(results.testEvents().started().count()).isEqualTo(6);
  }
}
