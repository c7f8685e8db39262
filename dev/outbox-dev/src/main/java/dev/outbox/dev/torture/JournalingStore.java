package dev.outbox.dev.torture;

import dev.outbox.spi.store.Claim;
import dev.outbox.spi.store.Claim.Settled;
import dev.outbox.spi.store.Decision;
import dev.outbox.spi.store.KeepingStore;
import dev.outbox.spi.store.OutboxStore;
import dev.outbox.spi.store.StoredMessage;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes down from when to when each claim surely lasted, and what was accepted of it: from after
 * the store gave it, to before the store is asked to settle it.
 *
 * <pre>
 *   claim     NUMBER ASKED_AT LEASE_NANOS SEQUENCE|KEY,…
 *   renewed   NUMBER ASKED_AT LEASE_NANOS SEQUENCE,…     those still ours
 *   settle    NUMBER
 *   settled   NUMBER SEQUENCE,…                          those not lost
 *   delivered NUMBER SEQUENCE,…                          those of them that are gone
 *   dead      SEQUENCE
 *   unseen                                               others do not see whether it lives
 *   session-lost                                         by which they see so
 * </pre>
 */
record JournalingStore(
    Claim.Source source, Journal journal, AtomicLong numbers, Runnable beforeSettle)
    implements InvocationHandler {

  /**
   * The same store, with all that it can do beside. A relay of one that keeps nothing is seen by
   * nobody.
   *
   * @param beforeSettle may take its time
   */
  @SuppressWarnings("unchecked") // it has all of the store's interfaces
  static <T> OutboxStore<T> of(OutboxStore<T> store, Journal journal, Runnable beforeSettle) {
    if (!(store instanceof KeepingStore)) {
      journal.write("unseen");
    }
    return (OutboxStore<T>)
        new JournalingStore(store, journal, new AtomicLong(), beforeSettle).proxy();
  }

  private Object proxy() {
    Set<Class<?>> interfaces = new LinkedHashSet<>();
    for (Class<?> type = source.getClass(); type != null; type = type.getSuperclass()) {
      interfaces.addAll(List.of(type.getInterfaces()));
    }
    interfaces.removeIf(type -> !Modifier.isPublic(type.getModifiers()));
    return Proxy.newProxyInstance(
        JournalingStore.class.getClassLoader(), interfaces.toArray(Class<?>[]::new), this);
  }

  /** Of the store, or of the keeper that it has made. */
  @Override
  @SuppressWarnings("unchecked") // the relay gives back what it got here
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] given)
      throws Throwable {
    Object[] arguments = given == null ? new Object[0] : given;
    String name = method.getName();
    if (name.equals("claim")) {
      return claim((Claim.Request) arguments[0]);
    }
    if (name.equals("settleAndClaim")) {
      return settleAndClaim(
          (Journaled) arguments[0],
          (Map<Long, Decision>) arguments[1],
          (Claim.Request) arguments[2]);
    }
    if (arguments.length > 0 && arguments[0] instanceof KeepingStore.Keeper keeper) {
      arguments[0] = ((JournalingStore) Proxy.getInvocationHandler(keeper)).source;
    }
    try {
      Object answer = method.invoke(source, arguments);
      if (name.equals("hold")) {
        journal.write("unseen");
      }
      return answer instanceof KeepingStore.Keeper keeper
          ? new JournalingStore(keeper, journal, numbers, beforeSettle).proxy()
          : answer;
    } catch (InvocationTargetException e) {
      if (name.equals("hold") && e.getCause() instanceof RuntimeException) {
        journal.write("session-lost");
      }
      throw e.getCause();
    }
  }

  private Claim claim(Claim.Request request) {
    long asked = System.nanoTime();
    return begun(source.claim(request), asked, request);
  }

  private Settled settleAndClaim(
      Journaled ending, Map<Long, Decision> decisions, Claim.Request next) {
    ending.settles(decisions);
    long asked = System.nanoTime();
    Settled settled = source.settleAndClaim(ending.claim, decisions, next);
    ending.settled(decisions, settled.lost());
    return new Settled(settled.lost(), begun(settled.next(), asked, next));
  }

  private Claim begun(Claim claim, long asked, Claim.Request request) {
    Journaled journaled = new Journaled(claim);
    if (!claim.messages().isEmpty()) {
      Stream<String> messages = claim.messages().stream().map(m -> m.sequence() + "|" + m.key());
      journal.write(
          "claim", journaled.number, asked, request.lease().toNanos(), Journal.list(messages));
    }
    return journaled;
  }

  private final class Journaled implements Claim {
    private final Claim claim;
    private final long number = numbers.incrementAndGet();

    private Journaled(Claim claim) {
      this.claim = claim;
    }

    @Override
    public List<StoredMessage> messages() {
      return claim.messages();
    }

    @Override
    public boolean pollAgain() {
      return claim.pollAgain();
    }

    @Override
    public Set<Long> renew(Duration lease) {
      long asked = System.nanoTime();
      Set<Long> ours = claim.renew(lease);
      journal.write(
          "renewed", number, asked, lease.toNanos(), Journal.list(sequences(ours::contains)));
      return ours;
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      settles(decisions);
      Set<Long> lost = claim.settle(decisions);
      settled(decisions, lost);
      return lost;
    }

    private void settles(Map<Long, Decision> decisions) {
      if (!messages().isEmpty()) {
        beforeSettle.run();
        decisions.forEach(
            (sequence, decision) -> {
              if (decision instanceof Decision.Dead) {
                journal.write("dead", sequence);
              }
            });
        journal.write("settle", number);
      }
    }

    private void settled(Map<Long, Decision> decisions, Set<Long> lost) {
      if (!messages().isEmpty()) {
        Set<Long> gone = new HashSet<>(lost);
        journal.write("settled", number, Journal.list(sequences(s -> !gone.contains(s))));
        journal.write(
            "delivered",
            number,
            Journal.list(
                sequences(
                    s -> !gone.contains(s) && decisions.get(s) instanceof Decision.Delivered)));
      }
    }

    private Stream<Long> sequences(Predicate<Long> which) {
      return messages().stream().map(StoredMessage::sequence).filter(which);
    }
  }
}
