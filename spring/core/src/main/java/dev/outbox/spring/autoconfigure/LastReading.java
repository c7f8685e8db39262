package dev.outbox.spring.autoconfigure;

import dev.outbox.spi.store.StatisticsStore.Statistics;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the meters read last; without a class of theirs, because those may be missing.
 *
 * @param statistics null when the meters have none, or an old one
 * @param age since the last good reading, or, before the first, since the meters were made
 */
record LastReading(Supplier<@Nullable Statistics> statistics, Supplier<Duration> age) {}
