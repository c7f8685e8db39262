package dev.outbox.store.mongo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.mongodb.MongoException;
import dev.outbox.OutboxException;
import dev.outbox.TransientOutboxException;
import dev.outbox.store.mongo.FaultOperations.Attempt;
import dev.outbox.store.mongo.FaultOperations.Operation;
import dev.outbox.store.mongo.Faults.Fault;
import dev.outbox.store.mongo.Faults.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Each command of each operation fails, in all ways that a server and a network have: the operation
 * succeeds all the same, or says in one sentence what to do; nothing is lost, nothing leaks, and no
 * attempt counts twice.
 *
 * <p>Each command meets some of the faults, which come in turn; {@code -Doutbox.faults=100} has
 * each meet all of them.
 */
@Isolated("a fail point is the whole server's")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FaultTest {
  private static final int EACH = Integer.getInteger("outbox.faults", 2);

  /** Conflicts, elections, networks, time limits: another try can help. */
  private static final List<Integer> PASSING =
      List.of(112, 251, 24, 189, 91, 10107, 11602, 13435, 6, 7, 50, 11600, 64);

  /** No rights, and what no try can help. */
  private static final List<Integer> LASTING = List.of(13, 2, 59);

  /** More often than anything is tried. */
  private static final int ALWAYS = 100;

  private int nextFault;
  private FaultStage stage;
  private boolean losesReplies;

  @BeforeAll
  void start() {
    stage = new FaultStage();
    stage.faults.failPoint.assumeThere();
    losesReplies =
        stage.faults.failPoint.losesReplies(stage.faults.client, stage.database.database.getName());
  }

  @AfterAll
  void stop() {
    if (stage != null) {
      stage.close();
    }
  }

  private static List<Fault> faults() {
    List<Fault> faults = new ArrayList<>();
    for (int times : List.of(1, ALWAYS)) {
      faults.add(Fault.closed(times, false));
      faults.add(Fault.replyLost(times));
      PASSING.forEach(code -> faults.add(Fault.error(code, times)));
      LASTING.forEach(code -> faults.add(Fault.error(code, times)));
    }
    faults.add(Fault.closed(ALWAYS, true));
    List.of(91, 189, 11600).forEach(code -> faults.add(Fault.errorAfter(code)));
    return faults;
  }

  @TestFactory
  @DisplayName("with a command that fails")
  Stream<DynamicNode> commands() {
    List<DynamicNode> nodes = new ArrayList<>();
    new FaultOperations(stage)
        .all()
        .forEach((name, operation) -> nodes.add(dynamicContainer(name, cases(operation).stream())));
    return nodes.stream();
  }

  private List<DynamicNode> cases(Operation operation) {
    List<Fault> faults = faults();
    List<DynamicNode> cases = new ArrayList<>();
    for (Sent command : operation.ofInterest(commandsOf(operation))) {
      for (int i = 0; i < Math.min(EACH, faults.size()); i++) {
        // 7 is prime to their number, so that those of one command are of different kinds.
        Fault fault = faults.get(nextFault++ * 7 % faults.size());
        cases.add(dynamicTest(command + ", " + fault, () -> fail(operation, command, fault)));
      }
    }
    return cases;
  }

  private List<Sent> commandsOf(Operation operation) {
    stage.restore();
    Attempt attempt = operation.prepare();
    stage.faults.watch(null, null);
    attempt.work().run();
    List<Sent> commands = stage.faults.end();
    attempt.then().accept(null);
    stage.drain();
    assertThat(commands).isNotEmpty();
    return commands;
  }

  private void fail(Operation operation, Sent command, Fault fault) {
    assumeTrue(
        losesReplies || !fault.afterExecution(),
        "a mongod cannot lose a reply; the test server of .ci/run can");
    stage.restore();
    Attempt attempt = operation.prepare();
    stage.faults.watch(command, fault);
    RuntimeException failure = null;
    List<Sent> sent;
    try {
      attempt.work().run();
    } catch (RuntimeException e) {
      failure = e;
    } finally {
      sent = stage.faults.end();
    }
    assertSaysWhatToDo(failure, fault);
    stage.assertLeasesEnd();
    attempt.then().accept(failure);
    stage.drain();
    assumeTrue(
        sent.contains(command),
        "the command was not sent this time: for how long leases are kept is a matter of time");
  }

  @Test
  @DisplayName("claims that fail give their sessions back")
  void sessions() {
    stage.restore();
    int before = stage.faults.sessions();
    List<String> commands =
        List.of("find", "aggregate", "distinct", "findAndModify", "update", "commitTransaction");
    for (int i = 0; i < 4 * commands.size(); i++) {
      stage.faults.watch(new Sent(commands.get(i % commands.size()), 1), Fault.error(2, 1));
      assertThatThrownBy(() -> stage.store.claim(FaultStage.request()))
          .isInstanceOf(OutboxException.class);
      List<Sent> unused = stage.faults.end();
    }
    assertThat(stage.faults.sessions() - before)
        .as("sessions that %d failures took", 4 * commands.size())
        .isLessThan(5);
    stage.drain();
  }

  private static void assertSaysWhatToDo(@Nullable RuntimeException failure, Fault fault) {
    if (failure == null) {
      return;
    }
    assertThat(failure.getMessage()).doesNotContain("\n").isNotBlank();
    if (failure instanceof MongoException e) {
      assertThat(e.getErrorLabels()).contains("TransientTransactionError");
      assertThat(e).hasMessageContaining("run the whole transaction again");
    } else if (LASTING.contains(fault.data().getInteger("errorCode", 0))) {
      assertThat(failure)
          .isInstanceOf(OutboxException.class)
          .isNotInstanceOf(TransientOutboxException.class);
    } else {
      assertThat(failure).isInstanceOf(TransientOutboxException.class);
    }
  }
}
