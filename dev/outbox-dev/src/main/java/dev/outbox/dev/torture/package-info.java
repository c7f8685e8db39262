/**
 * Producers, relays and consumers as processes of their own, a real database and a real broker; a
 * random plan of faults ({@link dev.outbox.dev.torture.Fault.Plan}); and an oracle ({@link
 * dev.outbox.dev.torture.Oracle}) that compares what was committed with what arrived. Begin with
 * {@link dev.outbox.dev.torture.Torture}.
 */
@NullMarked
package dev.outbox.dev.torture;

import org.jspecify.annotations.NullMarked;
