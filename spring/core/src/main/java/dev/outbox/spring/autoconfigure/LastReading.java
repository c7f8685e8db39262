package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the meters read last; an interface, because their classes may be missing. */
interface LastReading {

  /** Null when the meters have none, or an old one. */
  @Nullable Statistics statistics();

  /** Since the last good reading, or, before the first, since the beginning. */
  Duration age();
}
