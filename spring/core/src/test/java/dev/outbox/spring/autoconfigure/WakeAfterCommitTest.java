package dev.outbox.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Appended;
import dev.outbox.JoinedOutbox;
import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spring.Application;
import dev.outbox.spring.Others;
import dev.outbox.spring.OutboxRelay;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.transaction.support.TransactionTemplate;

class WakeAfterCommitTest {
  private final AtomicInteger wakes = new AtomicInteger();
  private final HandOver handOver =
      new HandOver(new StaticListableBeanFactory().getBeanProvider(OutboxRelay.class));
  private final TransactionTemplate transaction = new TransactionTemplate(new Others());
  private final JoinedOutbox outbox =
      handOver.outbox(new Store()).joining(append -> append.apply("current"));

  /** Of which nothing is kept. */
  private static final class Store implements OutboxStore<Object> {
    @Override
    public Appended append(Object transaction, List<OutboxMessage> messages) {
      return Appended.of(messages, Set.of());
    }

    @Override
    public Claim claim(Claim.Request request) {
      throw new UnsupportedOperationException();
    }
  }

  private void append() {
    outbox.append(Application.message("1", "OrderPlaced"));
  }

  @Test
  void onceATransactionAndNotBefore() {
    handOver.wakes(wakes::incrementAndGet);
    Application.commit(
        transaction,
        () -> {
          append();
          append();
          assertThat(wakes).hasValue(0);
        });
    assertThat(wakes).hasValue(1);
    Application.commit(transaction, this::append);
    assertThat(wakes).hasValue(2);
  }

  @Test
  void notAfterARollbackNorWithoutAnAppend() {
    handOver.wakes(wakes::incrementAndGet);
    Application.rollBack(transaction, this::append);
    Application.commit(transaction, () -> {});
    assertThat(wakes).hasValue(0);
  }
}
