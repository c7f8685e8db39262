/**
 * For consumers: handle each message once, also when it arrives again. Numbers like I1 in these
 * comments are rules of {@code SPEC.md}. In the order in which one meets the types:
 *
 * <ol>
 *   <li>{@link dev.outbox.inbox.Inbox} records an {@link dev.outbox.inbox.InboxKey} in the
 *       transaction of the effects; {@link dev.outbox.inbox.JoinedInbox} in the one that a library
 *       has begun. An {@link dev.outbox.inbox.Inbox.InProgressException} says to come again.
 *   <li>For effects elsewhere the inbox says how to {@link dev.outbox.inbox.Begin}, with a {@link
 *       dev.outbox.inbox.Fingerprint} of the message: a {@link dev.outbox.inbox.Begin.Lock} is
 *       completed with an {@link dev.outbox.inbox.InboxResult}.
 * </ol>
 */
@NullMarked
package dev.outbox.inbox;

import org.jspecify.annotations.NullMarked;
