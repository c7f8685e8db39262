package dev.outbox.dev.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Times in nanoseconds. */
final class Latencies {
  private final List<Long> nanos = new ArrayList<>();

  void add(long took) {
    nanos.add(took);
  }

  boolean isEmpty() {
    return nanos.isEmpty();
  }

  int count() {
    return nanos.size();
  }

  /** In milliseconds: so many percent took at most this long. There is at least one. */
  long percentile(int percent) {
    Collections.sort(nanos);
    int rank = (int) Math.ceil(nanos.size() * percent / 100.0);
    return Math.round(nanos.get(Math.max(1, rank) - 1) / 1e6);
  }
}
