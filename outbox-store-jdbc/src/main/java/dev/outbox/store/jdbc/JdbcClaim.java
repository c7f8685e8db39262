package dev.outbox.store.jdbc;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Decision;
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
final class JdbcClaim implements Claim {
  private final Transactions transactions;
  private final Dialect dialect;
  private final UUID owner;
  private final Batch batch;
  private final Map<Long, Row> rows = new HashMap<>();
  private final List<StoredMessage> messages;
  private Duration lease;

  JdbcClaim(Transactions transactions, Dialect dialect, UUID owner, Batch batch, Duration lease) {
    this.transactions = transactions;
    this.dialect = dialect;
    this.owner = owner;
    this.batch = batch;
    this.lease = lease;
    batch.rows().forEach(row -> rows.put(row.sequence(), row));
    messages = batch.rows().stream().map(Row::claimed).toList();
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
    if (rows.isEmpty()) {
      return Set.of();
    }
    this.lease = lease;
    Set<Integer> held =
        transactions.run(lease, handle -> dialect.renew(handle, owner, batch.leases(), lease));
    return sequences(row -> held.contains(row.bucket()));
  }

  @Override
  public Set<Long> settle(Map<Long, Decision> decisions) {
    if (!rows.keySet().containsAll(decisions.keySet())) {
      throw new IllegalArgumentException(
          "decisions name sequences that this claim does not have: "
              + decisions.keySet().stream().filter(s -> !rows.containsKey(s)).sorted().toList());
    }
    if (rows.isEmpty()) {
      return Set.of();
    }
    Set<Integer> held =
        transactions.run(
            lease,
            handle -> {
              Set<Integer> ours = dialect.lockHeld(handle, owner, batch.leases());
              List<Row> mine =
                  batch.rows().stream().filter(row -> ours.contains(row.bucket())).toList();
              if (!ours.isEmpty()) {
                new Settlement(handle, dialect, counted(ours)).apply(mine, decisions);
                dialect.release(handle, owner, settled(ours, mine, decisions));
              }
              return ours;
            });
    return sequences(row -> !held.contains(row.bucket()));
  }

  private Set<Integer> counted(Set<Integer> ours) {
    return batch.counted().stream()
        .map(Lease::bucket)
        .filter(ours::contains)
        .collect(Collectors.toSet());
  }

  private static Map<Integer, Integer> settled(
      Set<Integer> ours, List<Row> mine, Map<Long, Decision> decisions) {
    Map<Integer, Integer> settled = new HashMap<>();
    ours.forEach(bucket -> settled.put(bucket, 0));
    mine.stream()
        .filter(row -> decisions.containsKey(row.sequence()))
        .forEach(row -> settled.merge(row.bucket(), 1, Integer::sum));
    return settled;
  }

  private Set<Long> sequences(Predicate<Row> which) {
    return rows.values().stream()
        .filter(which)
        .map(Row::sequence)
        .collect(Collectors.toUnmodifiableSet());
  }
}
