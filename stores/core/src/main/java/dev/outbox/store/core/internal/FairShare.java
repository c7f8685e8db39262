package dev.outbox.store.core.internal;

import java.util.HashSet;
import java.util.Set;

/**
 * How many buckets a claim may lease: the busy ones, divided by the workers that hold leases, less
 * what its own worker holds already; at least one. A greedy worker would starve the others while
 * few keys are busy.
 */
public final class FairShare {
  private final String worker;
  private final Set<String> others = new HashSet<>();
  private int busy;
  private int own;

  /**
   * @param worker the worker that claims
   */
  public FairShare(String worker) {
    this.worker = worker;
  }

  /** Counts a bucket that is free and has work. */
  public void free() {
    busy++;
  }

  /** Counts a bucket whose lease lasts. */
  public void leased(String by) {
    busy++;
    if (by.equals(worker)) {
      own++;
    } else {
      others.add(by);
    }
  }

  /**
   * @param most the most buckets
   */
  public int of(int most) {
    int workers = 1 + others.size();
    int share = (busy + workers - 1) / workers - own;
    return Math.max(1, Math.min(most, share));
  }
}
