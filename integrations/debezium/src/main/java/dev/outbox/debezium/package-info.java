/** Debezium in the relay's place. */
@NullMarked
package dev.outbox.debezium;

import org.jspecify.annotations.NullMarked;
