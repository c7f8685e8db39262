/**
 * Between a store and a publisher: claims, publishes, settles. {@link dev.outbox.relay.Relay} is
 * where to start; numbers like P2 and O1 in these comments are rules of {@code SPEC.md}. {@code
 * docs/design/README.md} leads through the classes; {@code Worker} is the one to read first, and
 * {@code RoutingPublisher} is read apart from all this. Clocks give nanoseconds, as that of
 * System.nanoTime.
 */
@NullMarked
package dev.outbox.relay;

import org.jspecify.annotations.NullMarked;
