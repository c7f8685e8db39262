package dev.outbox.store.core;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Decision;
import dev.outbox.spi.OutboxStore.Settled;
import dev.outbox.spi.StoredMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Some leased buckets and the messages read from them. */
final class BucketClaim<H> implements Claim {
  private final Claims<H> claims;
  private final UUID owner;
  private final Batch batch;
  private final Map<Long, Row> rows = new HashMap<>();
  private final List<StoredMessage> messages;
  private Transactions<H> transactions;
  private Duration lease;
  private boolean over;

  /**
   * @param transactions this claim's, which it closes unless it hands them on
   */
  BucketClaim(
      Claims<H> claims, Transactions<H> transactions, UUID owner, Batch batch, Duration lease) {
    this.claims = claims;
    this.transactions = transactions;
    this.owner = owner;
    this.batch = batch;
    this.lease = lease;
    batch.rows().forEach(row -> rows.put(row.sequence(), row));
    messages = batch.rows().stream().map(Row::claimed).toList();
  }

  Transactions<H> transactions() {
    return transactions;
  }

  UUID owner() {
    return owner;
  }

  Batch batch() {
    return batch;
  }

  Duration lease() {
    return lease;
  }

  @Override
  public List<StoredMessage> messages() {
    return messages;
  }

  @Override
  public boolean pollAgain() {
    return batch.pollAgain();
  }

  @Override
  public Set<Long> renew(Duration lease) {
    this.lease = lease;
    return over || rows.isEmpty() ? Set.of() : sequencesIn(claims.renew(this));
  }

  @Override
  public Set<Long> settle(Map<Long, Decision> decisions) {
    check(decisions);
    return batch.leases().isEmpty() ? Set.of() : sequencesNotIn(held(decisions));
  }

  private Set<Integer> held(Map<Long, Decision> decisions) {
    // Its buckets may be leased on under the same owner, by the claim that came after it.
    return over ? Set.of() : claims.settle(this, decisions);
  }

  Settled settleAndClaim(Map<Long, Decision> decisions, ClaimRequest next) {
    check(decisions);
    return claims.settleAndClaim(this, decisions, next);
  }

  private void check(Map<Long, Decision> decisions) {
    if (!rows.keySet().containsAll(decisions.keySet())) {
      throw new IllegalArgumentException(
          "decisions name sequences that this claim does not have: "
              + decisions.keySet().stream().filter(s -> !rows.containsKey(s)).sorted().toList());
    }
  }

  /** From now on settling finds that everything was lost. */
  void over() {
    over = true;
  }

  /** It holds nothing any more. A settle that is repeated finds so in {@code others}. */
  void end(Transactions<H> others) {
    if (transactions != others) {
      transactions.close();
      transactions = others;
    }
  }

  /** Whether these claims may go on with it. */
  boolean isOf(Claims<?> others) {
    return claims == others && !over;
  }

  private Set<Long> sequencesIn(Set<Integer> buckets) {
    return sequences(row -> buckets.contains(row.bucket()));
  }

  Set<Long> sequencesNotIn(Set<Integer> buckets) {
    return sequences(row -> !buckets.contains(row.bucket()));
  }

  private Set<Long> sequences(Predicate<Row> which) {
    return rows.values().stream()
        .filter(which)
        .map(Row::sequence)
        .collect(Collectors.toUnmodifiableSet());
  }
}
