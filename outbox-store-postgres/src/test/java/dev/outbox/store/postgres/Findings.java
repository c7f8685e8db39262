package dev.outbox.store.postgres;

import dev.outbox.spi.store.Finding;
import dev.outbox.spi.store.StatisticsStore;
import java.util.List;

/** What a store finds wrong. */
final class Findings {
  private Findings() {}

  static List<String> wrong(StatisticsStore store) {
    return store.findings().stream().filter(one -> !one.isFine()).map(Finding::text).toList();
  }
}
