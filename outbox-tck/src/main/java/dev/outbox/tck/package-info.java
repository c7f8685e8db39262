/**
 * What the suites share; the rules that they test are in {@code SPEC.md}.
 *
 * <ul>
 *   <li>{@code dev.outbox.tck.store} is the suite of stores, with what unlocks more of it;
 *   <li>{@code dev.outbox.tck.inbox} that of inboxes;
 *   <li>{@code dev.outbox.tck.publisher} that of publishers.
 * </ul>
 */
@NullMarked
package dev.outbox.tck;

import org.jspecify.annotations.NullMarked;
