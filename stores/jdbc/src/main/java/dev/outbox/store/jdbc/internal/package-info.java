/**
 * The database of the algorithm in SQL. For stores of this library alone: it changes without
 * notice.
 *
 * <p>{@code SqlDialect} is the class to read first: it names the parts that a database has. {@code
 * SqlReads}, {@code SqlWrites} and {@code SqlAdministration} run the statements that have the same
 * form everywhere; a database extends them and gives their texts. {@code MessageRows} reads what
 * comes back. {@code JdbcTransactions} begins and ends the store's own transactions, runs them
 * again after a conflict, and turns failures into sentences; {@code Server} is what it asks of a
 * database for that. {@code Schema} makes and checks the tables, and {@code Grants} says who needs
 * which rights. {@code InboxTable} runs the statements of an inbox.
 */
@NullMarked
package dev.outbox.store.jdbc.internal;

import org.jspecify.annotations.NullMarked;
