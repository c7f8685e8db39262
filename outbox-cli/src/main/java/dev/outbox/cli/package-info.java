/** The program {@code outbox}: migrate, relay, status, dead letters and the like. */
@NullMarked
package dev.outbox.cli;

import org.jspecify.annotations.NullMarked;
