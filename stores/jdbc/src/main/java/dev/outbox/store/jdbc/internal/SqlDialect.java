package dev.outbox.store.jdbc.internal;

import dev.outbox.OutboxMessage;
import dev.outbox.store.core.internal.AppendReport;
import dev.outbox.store.core.internal.Database;
import dev.outbox.store.core.internal.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an outbox on one database: what differs from database to database.
 *
 * <p>Where a record or a class gives the text of a statement, it says which named parameters the
 * statement takes and which columns it gives. Texts have placeholders, which {@link Server#fill}
 * fills in once. Times are the database's own, in UTC; durations are in milliseconds.
 *
 * @param append stores messages
 * @param database what the algorithm asks; most databases extend {@link SqlReads}, {@link
 *     SqlWrites} and {@link SqlAdministration} for it
 * @param archive where the archive's tables are; null where none is kept
 */
public record SqlDialect(
    Server server, Append append, Database<Handle> database, @Nullable Server archive) {

  /** Appends on the caller's connection, in as few round trips as the database allows. */
  public interface Append {

    /** Returns the ids of the duplicates. */
    Set<UUID> append(Connection connection, List<OutboxMessage> messages, Duration dedupWindow)
        throws SQLException;

    /**
     * Appends messages, and asks where they are and what may be handed over.
     *
     * @param open the leases that they could be handed over to
     * @return what is to be done when the transaction has committed; of a bucket all is handed
     *     over, or nothing. Empty: nothing was appended, because it cannot be asked
     */
    default Optional<AppendReport> appendToHandOver(
        Connection connection, List<OutboxMessage> messages, List<Lease> open) throws SQLException {
      return Optional.empty();
    }
  }
}
