package dev.outbox.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.JoinedOutbox;
import dev.outbox.NoTransactionException;
import dev.outbox.inbox.JoinedInbox;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.params.provider.Arguments;
import org.springframework.core.PriorityOrdered;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * What is called around the end of a transaction, and whether it may still write.
 *
 * @param change some change of the business, of that id
 */
public record EndOfTransaction(
    Application application, Supplier<TransactionTemplate> transactions, Consumer<String> change) {

  /** When it is called. */
  public enum Phase {
    BEFORE_COMMIT,
    BEFORE_COMPLETION,
    AFTER_COMMIT,
    AFTER_COMPLETION,
    AFTER_ROLLBACK,
    AFTER_FAILED_COMMIT;

    boolean isBefore() {
      return this == BEFORE_COMMIT || this == BEFORE_COMPLETION;
    }
  }

  /** In which transaction it writes. */
  public enum In {
    NONE(-1),
    REQUIRED(TransactionDefinition.PROPAGATION_REQUIRED),
    REQUIRES_NEW(TransactionDefinition.PROPAGATION_REQUIRES_NEW);

    private final int propagation;

    In(int propagation) {
      this.propagation = propagation;
    }
  }

  /** Each with each. */
  public static Stream<Arguments> cases() {
    return Stream.of(Phase.values())
        .flatMap(phase -> Stream.of(In.values()).map(in -> Arguments.of(phase, in)));
  }

  /** Appends and asks the inbox then; whether both were taken, and not refused. */
  public boolean takes(Phase phase, In in, String id) {
    List<Object> done = new ArrayList<>();
    Runnable called =
        () -> {
          if (in == In.NONE) {
            write(id, done);
          } else {
            TransactionTemplate transaction = transactions.get();
            transaction.setPropagationBehavior(in.propagation);
            transaction.executeWithoutResult(status -> write(id, done));
          }
        };
    Runnable run =
        () ->
            transactions
                .get()
                .executeWithoutResult(
                    status -> {
                      change.accept(id);
                      TransactionSynchronizationManager.registerSynchronization(
                          new Calling(phase, called));
                      if (phase == Phase.AFTER_ROLLBACK) {
                        status.setRollbackOnly();
                      }
                    });
    if (phase == Phase.AFTER_FAILED_COMMIT) {
      assertThatThrownBy(run::run).hasMessage("not this one");
    } else {
      run.run();
    }
    assertThat(done).hasSize(2);
    if (phase.isBefore() || in == In.REQUIRES_NEW) {
      assertThat(done).noneMatch(NoTransactionException.class::isInstance);
      return true;
    }
    assertRefused(done);
    return false;
  }

  /** What came of both. */
  void write(String id, List<Object> done) {
    for (Supplier<Object> write :
        List.<Supplier<Object>>of(
            () ->
                application.bean(JoinedOutbox.class).append(Application.message(id, "OrderPlaced")),
            () -> application.bean(JoinedInbox.class).firstTime("shipping", id))) {
      try {
        done.add(write.get());
      } catch (NoTransactionException e) {
        done.add(e);
      }
    }
  }

  static void assertRefused(List<Object> done) {
    assertThat(done)
        .hasSize(2)
        .allSatisfy(
            outcome ->
                assertThat(outcome)
                    .asInstanceOf(InstanceOfAssertFactories.throwable(NoTransactionException.class))
                    .hasMessageContainingAll(
                        "is over", "@TransactionalEventListener", "REQUIRES_NEW"));
  }

  /** Before all others that the application registers. */
  private record Calling(Phase phase, Runnable called)
      implements TransactionSynchronization, PriorityOrdered {
    @Override
    public int getOrder() {
      return HIGHEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
      in(Phase.BEFORE_COMMIT);
      if (phase == Phase.AFTER_FAILED_COMMIT) {
        throw new IllegalStateException("not this one");
      }
    }

    @Override
    public void beforeCompletion() {
      in(Phase.BEFORE_COMPLETION);
    }

    @Override
    public void afterCommit() {
      in(Phase.AFTER_COMMIT);
    }

    @Override
    public void afterCompletion(int status) {
      if (phase.ordinal() >= Phase.AFTER_COMPLETION.ordinal()) {
        called.run();
      }
    }

    private void in(Phase now) {
      if (phase == now) {
        called.run();
      }
    }
  }
}
