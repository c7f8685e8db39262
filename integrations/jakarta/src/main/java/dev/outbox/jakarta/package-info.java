/** Appends in the transactions of Jakarta EE: {@link dev.outbox.jakarta.JakartaOutbox}. */
@NullMarked
package dev.outbox.jakarta;

import org.jspecify.annotations.NullMarked;
