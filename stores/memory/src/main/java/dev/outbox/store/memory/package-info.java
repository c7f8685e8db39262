/** The reference store, in memory. */
@NullMarked
package dev.outbox.store.memory;

import org.jspecify.annotations.NullMarked;
