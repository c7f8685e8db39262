/**
 * Between a store and a publisher: claims, publishes, settles. {@link dev.outbox.relay.Relay} is
 * where to start; numbers like P2 and O1 in these comments are rules of {@code SPEC.md}.
 *
 * <p>{@code Worker} is the class to read first: its method {@code round} claims, publishes and
 * settles once. {@code TimedClaim} is the claim that it works on. {@code Batch} has the claim's
 * messages and what is decided about each, and {@code Verdicts} decides. {@code Publication} calls
 * the publisher on a thread of its own, so that the worker can give up on it. {@code Breaker} stops
 * claims while the broker cannot be reached, and {@code Destinations} remembers single destinations
 * that cannot. {@code Waiting} is where workers wait for work. {@code RoutingPublisher} makes
 * several publishers one, and is read apart from all this. Where a {@code LongSupplier} is a clock,
 * it is {@link System#nanoTime}.
 */
@NullMarked
package dev.outbox.relay;

import org.jspecify.annotations.NullMarked;
