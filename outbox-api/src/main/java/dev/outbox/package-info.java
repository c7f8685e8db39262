/** What an application touches: append a message in the transaction that changes the data. */
@NullMarked
package dev.outbox;

import org.jspecify.annotations.NullMarked;
