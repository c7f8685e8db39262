package dev.outbox.store.mongo;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.outbox.OutboxException;
import java.util.List;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Breaks a client's connection in the place of one of its writes, by the server's fail point. */
final class Breaking implements CommandListener {
  private static final Set<String> WRITES = Set.of("insert", "update", "delete", "findAndModify");

  private volatile @Nullable Watched watched;

  /** For one thread. */
  private static final class Watched {
    private final Thread client = Thread.currentThread();
    private final FailPoint failPoint;
    private int left;

    Watched(FailPoint failPoint, int write) {
      this.failPoint = failPoint;
      left = write;
    }
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    Watched now = watched;
    if (now != null
        && now.client == Thread.currentThread()
        && WRITES.contains(event.getCommandName())
        && --now.left == 0) {
      now.failPoint.set(List.of(event.getCommandName()), 1, new Document("closeConnection", true));
    }
  }

  /**
   * As {@link dev.outbox.tck.BreaksConnections#breakingAtWrite}.
   *
   * @param failPoint for the commands of the client that this listens to
   */
  boolean atWrite(int write, FailPoint failPoint, Runnable work) {
    Watched here = new Watched(failPoint, write);
    failPoint.alone(
        () -> {
          watched = here;
          try {
            work.run();
          } catch (OutboxException e) {
            // for the broken connection, or the test meets the error again
          } finally {
            watched = null;
          }
        });
    return here.left <= 0;
  }
}
