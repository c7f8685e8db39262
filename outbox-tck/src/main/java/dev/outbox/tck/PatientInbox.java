package dev.outbox.tck;

import dev.outbox.inbox.Begin;
import dev.outbox.inbox.Begin.Lock;
import dev.outbox.spi.store.InboxStore;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An inbox's test class as the tests know it. */
final class PatientInbox<T> extends Patient<T> {
  private static final Causes CAUSES =
      new Causes(
          "something still holds locks. A lock of begin must not be an open transaction (I4)",
          "all connections are in use, or the commit waits for a lock",
          "it waits for a lock, or for a connection. Does a lock of begin keep one? It must not be an"
              + " open transaction (I4)",
          "it waits for a lock of an open transaction, or for a connection",
          "I2");

  private final InboxStoreTck<T> tck;
  private @Nullable InboxStore<T> store;

  PatientInbox(InboxStoreTck<T> tck) {
    super(tck, CAUSES);
    this.tck = tck;
  }

  @Override
  Duration fullPatience() {
    return tck.patience();
  }

  @Override
  Duration shortTime() {
    return tck.shortTime();
  }

  @Override
  void resetNow() {
    tck.reset();
  }

  @Override
  void inTransactionNow(Consumer<T> work) {
    tck.inTransaction(work);
  }

  int load() {
    return tck.load();
  }

  InboxStore<T> createStore() {
    return patient(
        call(
            "createStore()",
            "the database does not answer, or all connections are in use",
            fullPatience(),
            tck::createStore));
  }

  /** An empty inbox. */
  void prepare() {
    reset();
    store = createStore();
  }

  void use(InboxStore<T> other) {
    store = other;
  }

  InboxStore<T> store() {
    return Objects.requireNonNull(store, "no store: createStore() was not called yet");
  }

  /** The inbox as one that has an optional ability. */
  <A> A ability(Class<A> type) {
    return ability(type, store);
  }

  @SuppressWarnings("unchecked")
  private InboxStore<T> patient(InboxStore<T> actual) {
    return (InboxStore<T>) super.patient(actual);
  }

  @Override
  @SuppressWarnings("unchecked")
  @Nullable Object known(@Nullable Object result) {
    if (result instanceof Begin.Started<?> started) {
      return new Begin.Started<>((Lock<T>) super.patient(started.lock()));
    }
    return result instanceof InboxStore<?> other ? patient((InboxStore<T>) other) : result;
  }
}
