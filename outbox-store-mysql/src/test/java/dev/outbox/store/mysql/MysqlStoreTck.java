package dev.outbox.store.mysql;

import dev.outbox.store.jdbc.JdbcStoreTck;
import dev.outbox.store.jdbc.TestDatabase;
import dev.outbox.tck.store.ReadOnlyTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The TCK on MySQL; also what {@code ./outbox tck} runs in a user's own database. */
public class MysqlStoreTck extends JdbcStoreTck implements ReadOnlyTransactions<Connection> {
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int TRIES = 60;

  public MysqlStoreTck() {
    this(Tested.MYSQL);
  }

  MysqlStoreTck(Tested tested) {
    super(tested);
  }

  @Override
  public void inReadOnlyTransaction(Consumer<Connection> work) {
    database().inTransaction(true, work);
  }

  /** MariaDB waits 0.7 s for its purge to leave the table, and then refuses. */
  @Override
  public void restartSequences() {
    for (int attempt = 1; ; attempt++) {
      try {
        super.restartSequences();
        return;
      } catch (IllegalStateException e) {
        if (attempt == TRIES
            || !(e.getCause() instanceof SQLException refused)
            || refused.getErrorCode() != LOCK_WAIT_TIMEOUT) {
          throw e;
        }
      }
    }
  }

  /** A delayed message lies at its time. */
  @Override
  protected String computed() {
    return ", place = default";
  }

  @Override
  protected List<String> analyze() {
    return List.of("analyze table outbox_message, outbox_blocked_key");
  }

  /** Counts the rows and index entries that the session's statements have looked at. */
  @Override
  protected LongSupplier workCounter(TestDatabase session) {
    return new RowsRead(session)::total;
  }
}
