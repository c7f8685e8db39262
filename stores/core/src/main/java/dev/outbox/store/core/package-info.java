/** What the stores of this library have in common. */
@NullMarked
package dev.outbox.store.core;

import org.jspecify.annotations.NullMarked;
