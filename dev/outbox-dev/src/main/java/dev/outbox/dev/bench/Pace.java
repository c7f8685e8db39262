package dev.outbox.dev.bench;

import java.util.List;

/**
 * How fast some messages went, in tenths of them.
 *
 * @param messages measured
 * @param total that went through in the end, with what was under way when the time was over
 * @param nanos of each tenth
 */
record Pace(long messages, long total, List<Long> nanos) {
  static final int TENTHS = 10;

  Pace {
    nanos = List.copyOf(nanos);
  }

  /** Messages a second, from the tenth {@code from}, the first being 0, to before {@code to}. */
  double rate(int from, int to) {
    long time = nanos.subList(from, to).stream().mapToLong(n -> n).sum();
    return messages * (to - from) * 1e9 / TENTHS / Math.max(1, time);
  }
}
