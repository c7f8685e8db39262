/**
 * The brokers that a demo, a torture and a benchmark start, use, break and mend: one class each.
 */
@NullMarked
package dev.outbox.dev.broker;

import org.jspecify.annotations.NullMarked;
