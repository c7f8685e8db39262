package dev.outbox.tck.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.Appended;
import dev.outbox.NoTransactionException;
import dev.outbox.OutboxException;
import dev.outbox.OutboxMessage;
import dev.outbox.tck.AutoCommit;
import dev.outbox.tck.Rule;
import dev.outbox.tck.internal.OpenWork;
import dev.outbox.tck.internal.Sentence;
import java.util.ArrayList;
import java.util.List;

@Rule("A2")
abstract class AppendTests<T> extends StoreTests<T> {
  @Rule("A1")
  @Sentence("what is not committed yet is not claimed; once committed, it is")
  void becomesVisibleAtCommit() {
    OutboxMessage message = message("k").build();
    try (OpenWork<T> transaction = open()) {
      append(transaction, message);
      assertNothingDue("claimed before its transaction committed");
      transaction.commit();
    }
    assertCame("claimed after the commit", drain()).inOrder(message);
  }

  @Sentence("append leaves the transaction open, so that the caller can go on and roll back")
  void doesNotEndTheTransaction() {
    Appended ignored =
        tck.rollBack(
            t -> {
              store().append(t, message("k").dedupKey("d").build());
              return store().append(t, message("k").build());
            });
    assertNothingDue("rolled back after two appends");
  }

  @Sentence("append without an active transaction is refused, and writes nothing")
  void refusesAutoCommit() {
    AutoCommit<T> fixture = tck.fixture(AutoCommit.class);
    fixture.withoutTransaction(
        t ->
            assertThatThrownBy(
                    () -> store().append(t, List.of(message("k").build())),
                    "append without an active transaction")
                .isInstanceOf(NoTransactionException.class)
                .satisfies(e -> assertThat(e.getMessage()).isNotBlank()));
    assertNothingDue("written without a transaction");
  }

  @Sentence("append in a read-only transaction fails with a sentence, and writes nothing")
  void failsWhenReadOnly() {
    ReadOnlyTransactions<T> fixture = tck.fixture(ReadOnlyTransactions.class);
    List<Throwable> thrown = new ArrayList<>();
    OutboxMessage message = message("k").build();
    try {
      fixture.inReadOnlyTransaction(
          t -> thrown.add(catchThrowable(() -> store().append(t, List.of(message)))));
    } catch (RuntimeException e) {
      expect("inReadOnlyTransaction failed before append: " + e, thrown).isNotEmpty();
    }
    expect("what append threw", thrown).hasSize(1);
    expect("append in a read-only transaction", thrown.get(0))
        .isInstanceOf(OutboxException.class)
        .hasMessageMatching("(?is).*read.?only.*");
    assertNothingDue("written in a read-only transaction");
  }
}
