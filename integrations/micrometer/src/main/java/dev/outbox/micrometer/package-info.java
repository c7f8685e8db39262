/** Meters for Micrometer: {@link dev.outbox.micrometer.OutboxMetrics}. */
@NullMarked
package dev.outbox.micrometer;

import org.jspecify.annotations.NullMarked;
