/**
 * The engine between a store and a publisher: claims, publishes, settles. {@link
 * dev.outbox.relay.Relay} is where to start; numbers like P2 and O1 in these comments are rules of
 * {@code SPEC.md}.
 */
@NullMarked
package dev.outbox.relay;

import org.jspecify.annotations.NullMarked;
