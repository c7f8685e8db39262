/** An inbox of one class, as an example of how to write one. */
@NullMarked
package dev.outbox.example.inbox;

import org.jspecify.annotations.NullMarked;
