/** The program {@code outbox}: demo, tck, migrate, relay, status, dead letters. */
@NullMarked
package dev.outbox.cli;

import org.jspecify.annotations.NullMarked;
