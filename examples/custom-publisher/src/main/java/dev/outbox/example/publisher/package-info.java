/** A publisher of one class, as an example of how to write one. */
@NullMarked
package dev.outbox.example.publisher;

import org.jspecify.annotations.NullMarked;
