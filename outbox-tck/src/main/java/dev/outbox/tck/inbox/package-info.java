/** The suite that every inbox must pass: {@link dev.outbox.tck.inbox.InboxStoreTck}. */
@NullMarked
package dev.outbox.tck.inbox;

import org.jspecify.annotations.NullMarked;
