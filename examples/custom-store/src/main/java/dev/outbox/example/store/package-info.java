/** A store of one class, as an example of how to write one. */
@NullMarked
package dev.outbox.example.store;

import org.jspecify.annotations.NullMarked;
