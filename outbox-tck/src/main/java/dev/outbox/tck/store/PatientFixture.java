package dev.outbox.tck.store;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.KeepingStore.Keeper;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.tck.internal.HoldingThread;
import dev.outbox.tck.internal.Patience;
import dev.outbox.tck.internal.Patient;
import dev.outbox.tck.internal.Suite;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * A store's test class as the tests know it. Claims that a test leaves open are given back after
 * it, so that a store that holds a connection for each has them again.
 */
final class PatientFixture<T> extends Patient<T, OutboxStore<T>> {
  private static final Causes CAUSES =
      new Causes(
          "a claim that was never settled still holds locks. Commit the claim; a lease must not be an"
              + " open transaction (C4)",
          "all connections are in use, or the commit waits for a lock. A claim must not keep a"
              + " connection or a lock until it is settled (C4)",
          "it waits for a lock, or for a connection. Does a claim keep one until it is settled? A"
              + " lease must not be an open transaction (C4)",
          "it waits for a lock of an open transaction or of another claim, or for a connection",
          "C4");

  /** So many claims of nothing may be open. */
  private static final int MOST_EMPTY = 2;

  /** What the store itself made, and nobody has settled. */
  private final Set<Claim> open =
      Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

  private final Queue<Keeper> keepers = new ConcurrentLinkedQueue<>();
  private final Queue<Thread> holding = new ConcurrentLinkedQueue<>();
  private final Queue<Claim> empty = new ConcurrentLinkedQueue<>();

  PatientFixture(Suite<T, OutboxStore<T>> suite, Patience patience) {
    super(suite, patience, CAUSES);
  }

  /** Gives back what is still claimed, and makes the store empty. */
  @Override
  public void reset() {
    giveBack();
    super.reset();
  }

  /** Who waits for something claims nothing again and again: few of those stay open. */
  private Claim handedOut(Claim claim) {
    open.add(claim);
    if (claim.messages().isEmpty()) {
      empty.add(claim);
      Claim oldest = empty.size() > MOST_EMPTY ? empty.poll() : null;
      if (oldest != null && open.remove(oldest)) {
        giveBack(oldest);
      }
    }
    return patient(claim);
  }

  private void giveBack(Claim claim) {
    try {
      call("settle", () -> claim.settle(Map.of()));
    } catch (RuntimeException e) {
      // It may be settled already, or the schema gone: all that matters is that nothing is held.
    }
  }

  @Override
  public void giveBack() {
    List<Claim> left = new ArrayList<>(open);
    open.clear();
    empty.clear();
    try {
      left.forEach(this::giveBack);
      for (Keeper keeper = keepers.poll(); keeper != null; keeper = keepers.poll()) {
        letGo(keeper);
      }
      stopHolding();
    } catch (Patience.Hung e) {
      // Whoever needs what is still held says so.
    }
    waits().awaitGivenUp();
  }

  /** Nobody holds any more: what is held ends with its leases. */
  void stopHolding() {
    List<Thread> threads = new ArrayList<>(holding);
    holding.clear();
    threads.forEach(Thread::interrupt);
    threads.forEach(thread -> run("hold", thread::join));
  }

  private void letGo(Keeper keeper) {
    try {
      run("close", keeper::close);
    } catch (RuntimeException e) {
      // As with a claim: the schema may be gone.
    }
  }

  // ---- calls

  @Override
  protected void passing(Method method, @Nullable Object argument) {
    if (method.getName().equals("append")) {
      if (argument instanceof OutboxMessage message) {
        numbers().add(message.id());
      } else if (argument instanceof List<?> messages) {
        messages.forEach(message -> passing(method, message));
      }
    } else if (argument instanceof RawRows.RawRow row) {
      numbers().add(row.id());
    }
  }

  @Override
  protected void returned(Method method, Object actual) {
    if (actual instanceof Claim claim && method.getName().equals("settle")) {
      open.remove(claim);
    }
  }

  @Override
  protected @Nullable Object known(@Nullable Object result) {
    if (result instanceof Claim claim) {
      return handedOut(claim);
    } else if (result instanceof Settled settled) {
      return new Settled(settled.lost(), handedOut(settled.next()));
    } else if (result instanceof CountsWork.Counted<?> counted) {
      return new CountsWork.Counted<>(
          Objects.requireNonNull(known(counted.result())), counted.work());
    } else if (result instanceof Keeper keeper) {
      keepers.add(keeper);
      holding.add(HoldingThread.start(keeper));
      return patient(keeper);
    } else if (result instanceof OutboxStore<?> other) {
      return patient(other);
    }
    return result;
  }
}
