package dev.outbox.store.postgres;

import dev.outbox.spi.store.InspectionStore.Status;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Lease;
import dev.outbox.store.core.internal.Row;
import dev.outbox.store.core.internal.Row.Claimable;
import dev.outbox.store.postgres.CertifiedSequences.Beside;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * A bucket's low-water mark. Reading begins at {@link #low} and not at the first index entry: those
 * of delivered messages stay until vacuum removes them, and vacuum may be held up for hours. The
 * mark passes only what is certified ({@link CertifiedSequences}), and no message that was brought
 * before that is deleted. Beside transactions that stay open there is a second one, {@link Ahead}.
 * The holder of the lease keeps it in memory and stores it when it lets go; losing it costs time
 * and nothing else.
 *
 * @param low nothing below this sequence is PENDING
 * @param ahead where reading begins beside transactions that stay open
 * @param sample what the transaction that holds the bucket's row knows; its history is the mark's:
 *     after a failover or a restart of the sequence the same numbers are given again
 * @param read what the last read brought
 */
record LowWaterMark(long low, Ahead ahead, CertifiedSequences.Sample sample, Read read) {

  /**
   * A mark beside transactions that were open.
   *
   * @param low nothing below this sequence is PENDING for a snapshot that has all of these as open;
   *     at least the mark
   * @param open their ids; none: it is the mark
   */
  record Ahead(long low, Set<Long> open) {
    /** The open transactions of all buckets that are read together. */
    static Set<Long> openOf(Collection<Lease> leases) {
      Set<Long> all = Set.of();
      for (Lease lease : leases) {
        all = both(all, of(lease).ahead.open);
      }
      return all;
    }

    static Set<Long> both(Set<Long> some, Set<Long> others) {
      if (some.containsAll(others)) {
        return some;
      }
      Set<Long> all = new HashSet<>(some);
      all.addAll(others);
      return all;
    }
  }

  /**
   * The buckets whose messages are asked for beside an append. Not those where much is delivered
   * already that the mark cannot pass, because transactions are open.
   *
   * @param buckets by bit
   * @param low nothing below this sequence is PENDING in any of them
   * @param history of that mark
   */
  record Asked(long buckets, long low, String history) {
    /** So many sequences an append may have to read past. */
    private static final int MOST_PASSED = 1_000;

    static Asked of(List<Lease> leases) {
      String history = leases.isEmpty() ? "" : LowWaterMark.of(leases.get(0)).sample.history();
      long buckets = 0;
      long low = Long.MAX_VALUE;
      for (Lease lease : leases) {
        LowWaterMark mark = LowWaterMark.of(lease);
        if (mark.ahead.low - mark.low <= MOST_PASSED && mark.sample.history().equals(history)) {
          buckets |= 1L << lease.bucket();
          low = Math.min(low, mark.low);
        }
      }
      return new Asked(buckets, low, history);
    }
  }

  /**
   * What a read brought of a bucket.
   *
   * @param sequences of the messages, in ascending order
   * @param passed what the mark may become when all of them are deleted
   * @param ahead what the other one may become then
   * @param below what was certified for the read, and for each later snapshot that has all of these
   *     as open
   */
  record Read(long[] sequences, long passed, Ahead ahead, Beside below) {
    static final Read NOTHING = new Read(new long[0], 0, new Ahead(0, Set.of()), Beside.NONE);
  }

  /** A mark as it is stored; 0: reading begins at the first message. */
  static LowWaterMark stored(long low, CertifiedSequences.Sample sample) {
    return stored(low, new Ahead(low, Set.of()), sample);
  }

  static LowWaterMark stored(long low, Ahead ahead, CertifiedSequences.Sample sample) {
    return new LowWaterMark(low, ahead, sample, Read.NOTHING);
  }

  static LowWaterMark of(Lease lease) {
    return (LowWaterMark) lease.state();
  }

  /**
   * The mark in the next transaction. A mark of another history, or beyond the next sequence, is
   * forgotten.
   */
  LowWaterMark in(CertifiedSequences.Sample now) {
    return isOf(now.history(), now.next())
        ? new LowWaterMark(low, ahead, now, read)
        : stored(0, now);
  }

  /** Whether it is of this history, and not from before the sequence was set back. */
  boolean isOf(String history, long next) {
    return history.equals(sample.history()) && ahead.low <= next;
  }

  /**
   * The leases of buckets that were read, each with its mark after it.
   *
   * @param leases at least one; all were locked by the same statement
   * @param most how many messages of a bucket the read had room for
   * @param horizon as {@link CertifiedSequences#afterRead} takes it; 0: some of the transactions
   *     that were open are over, and the read began at the marks
   */
  static List<Lease> afterRead(
      List<Lease> leases,
      List<Row> rows,
      ToIntFunction<Lease> most,
      CertifiedSequences certified,
      long horizon) {
    long[][] sequences = byBucket(rows);
    long below = certified.afterRead(of(leases.get(0)).sample, horizon);
    return leases.stream()
        .map(
            lease -> {
              LowWaterMark mark = horizon == 0 ? of(lease).withoutAhead() : of(lease);
              return lease.with(
                  mark.afterRead(sequences[lease.bucket()], most.applyAsInt(lease), below));
            })
        .toList();
  }

  /**
   * The mark with what is certified now: for a read that takes no sample and is sent after this.
   */
  LowWaterMark knowing(CertifiedSequences.Sample now) {
    return now.history().equals(sample.history())
        ? new LowWaterMark(low, ahead, sample.with(now.below(), now.beside()), read)
        : this;
  }

  /** The mark without {@link Ahead}: the transactions that were open are over. */
  LowWaterMark withoutAhead() {
    return new LowWaterMark(
        low, new Ahead(low, Set.of()), sample.with(sample.below(), Beside.NONE), read);
  }

  /** The sequences of each bucket, in ascending order. */
  private static long[][] byBucket(List<Row> rows) {
    int[] messages = new int[Database.BUCKETS];
    for (Row row : rows) {
      messages[row.bucket()]++;
    }
    long[][] sequences = new long[Database.BUCKETS][];
    Arrays.setAll(sequences, bucket -> new long[messages[bucket]]);
    for (Row row : rows) {
      sequences[row.bucket()][--messages[row.bucket()]] = row.sequence();
    }
    for (long[] ofBucket : sequences) {
      Arrays.sort(ofBucket);
    }
    return sequences;
  }

  /**
   * The mark after a read that began at {@link #ahead}.
   *
   * @param sequences what it found, in ascending order
   * @param below what is certified for this read
   */
  LowWaterMark afterRead(long[] sequences, int most, long below) {
    int messages = sequences.length;
    long brought = messages < most ? Long.MAX_VALUE : sequences[messages - 1] + 1;
    long passed = Math.max(low, Math.min(below, brought));
    Beside certified =
        sample.beside().below() > below ? sample.beside() : new Beside(below, Set.of());
    Ahead behind =
        new Ahead(
            Math.max(ahead.low, Math.min(certified.below(), brought)),
            Ahead.both(ahead.open, certified.open()));
    Read read = new Read(sequences, passed, behind, certified);
    return new LowWaterMark(low, ahead, sample, read).passing(0, read);
  }

  /**
   * By bucket, how many messages in front were delivered, of those that the last read brought.
   *
   * @param delivered of each bucket in sequence order
   */
  static int[] inFront(Collection<Lease> leases, Collection<Claimable> delivered) {
    long[][] read = new long[Database.BUCKETS][0];
    leases.forEach(lease -> read[lease.bucket()] = of(lease).read.sequences);
    int[] inFront = new int[Database.BUCKETS];
    for (Claimable row : delivered) {
      int bucket = row.bucket();
      int next = inFront[bucket];
      if (row.status() == Status.PENDING
          && next < read[bucket].length
          && read[bucket][next] == row.sequence()) {
        inFront[bucket]++;
      }
    }
    return inFront;
  }

  /**
   * The last of so many messages in front, or empty when others may come to stand before it. It
   * holds for snapshots that have all of {@link Read#below} as open.
   */
  OptionalLong certifiedUpTo(int messages) {
    long last = messages == 0 ? Long.MAX_VALUE : read.sequences[messages - 1];
    return last < read.below.below() ? OptionalLong.of(last) : OptionalLong.empty();
  }

  /** The leases of buckets from which all that was delivered is deleted. */
  static List<Lease> afterDelete(List<Lease> leases, Collection<Claimable> delivered) {
    int[] inFront = inFront(leases, delivered);
    return leases.stream()
        .map(lease -> lease.with(of(lease).afterDelete(inFront[lease.bucket()])))
        .toList();
  }

  /** The mark after so many of the messages in front are deleted. */
  LowWaterMark afterDelete(int messages) {
    return passing(messages, Read.NOTHING);
  }

  /**
   * @param left what is known of the last read from now on
   */
  private LowWaterMark passing(int messages, Read left) {
    long passed = after(messages, low, read.passed);
    long further = after(messages, ahead.low, read.ahead.low);
    Ahead after = new Ahead(further, further > passed ? read.ahead.open : Set.of());
    return new LowWaterMark(passed, after, sample, left);
  }

  private long after(int messages, long before, long passed) {
    return messages == read.sequences.length
        ? Math.max(before, passed)
        : Math.min(passed, Math.max(before, read.sequences[messages]));
  }
}
