/** The command {@code ./outbox tck}. */
@NullMarked
package dev.outbox.dev.tck;

import org.jspecify.annotations.NullMarked;
