/**
 * The database of the algorithm in SQL. For stores of this library alone: it changes without
 * notice. {@code docs/design/README.md} says how the stores are built; {@code SqlDialect} names the
 * parts that a database has.
 */
@NullMarked
package dev.outbox.store.jdbc.internal;

import org.jspecify.annotations.NullMarked;
