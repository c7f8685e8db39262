package dev.outbox.store.postgres;

import dev.outbox.store.jdbc.internal.MessageRows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/** Rows with times that say their zone. */
final class PostgresRows extends MessageRows {

  /** The year 9999 begins. */
  private static final long LAST_USUAL = Instant.parse("9999-01-01T00:00:00Z").toEpochMilli();

  /**
   * By the driver's timestamp where that is exact, which it makes without a calendar: the other way
   * costs about a fifth of what decoding a message does. A time before 1970 or after 9998, or an
   * infinite one, takes that way.
   */
  @Override
  public @Nullable Instant instant(ResultSet rows, int column) throws SQLException {
    Timestamp usual = rows.getTimestamp(column);
    if (usual == null) {
      return null;
    }
    if (usual.getTime() >= 0 && usual.getTime() < LAST_USUAL) {
      return usual.toInstant();
    }
    return rows.getObject(column, OffsetDateTime.class).toInstant();
  }
}
