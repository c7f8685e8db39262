package dev.outbox.store.postgres.torture;

import dev.outbox.OutboxMessage;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.HousekeepingStore;
import dev.outbox.spi.OutboxStore;
import dev.outbox.spi.StoredMessage;
import dev.outbox.store.postgres.PostgresOutboxStore;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Writes down from when to when each claim surely lasted, and what was accepted of it: from after
 * the store gave it, to before the store is asked to settle it.
 */
record JournalingStore(PostgresOutboxStore store, Journal journal, Stops stops)
    implements OutboxStore<Connection>, HousekeepingStore {

  @Override
  public Set<UUID> append(Connection transaction, List<OutboxMessage> messages) {
    return store.append(transaction, messages);
  }

  @Override
  public Claim claim(ClaimRequest request) {
    return begun(store.claim(request));
  }

  @Override
  public Settled settleAndClaim(Claim done, Map<Long, Decision> decisions, ClaimRequest next) {
    Journaled ending = (Journaled) done;
    stops.beforeSettle();
    ending.write("end", Set.of());
    Settled settled = store.settleAndClaim(ending.claim, decisions, next);
    ending.settled(settled.lost());
    return new Settled(settled.lost(), begun(settled.next()));
  }

  @Override
  public void housekeep() {
    store.housekeep();
  }

  private Claim begun(Claim claim) {
    Journaled journaled = new Journaled(claim, journal, stops, UUID.randomUUID());
    journaled.write("begin", Set.of());
    return journaled;
  }

  private record Journaled(Claim claim, Journal journal, Stops stops, UUID number)
      implements Claim {

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
      return claim.renew(lease);
    }

    @Override
    public Set<Long> settle(Map<Long, Decision> decisions) {
      stops.beforeSettle();
      write("end", Set.of());
      Set<Long> lost = claim.settle(decisions);
      settled(lost);
      return lost;
    }

    void settled(Set<Long> lost) {
      write("accepted", lost);
      if (!lost.isEmpty()) {
        journal.fault("lost a lease");
      }
    }

    void write(String event, Set<Long> lost) {
      List<StoredMessage> rest =
          messages().stream().filter(m -> !lost.contains(m.sequence())).toList();
      if (!rest.isEmpty()) {
        journal.claim(
            number,
            event,
            rest.stream().map(StoredMessage::sequence).toList(),
            rest.stream().map(StoredMessage::key).distinct().toList());
      }
    }
  }
}
