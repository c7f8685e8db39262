package dev.outbox.publisher.handler;

import dev.outbox.publisher.core.KeyRun;
import dev.outbox.publisher.core.SideBySide;
import dev.outbox.publisher.core.Unanswered;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/** One call: of each key one message is handled at a time, as {@link SideBySide} says. */
final class Call {
  private final Parts parts;
  private final SideBySide call;
  private final long lastBegin;

  /** What all calls share. */
  record Parts(
      Routes routes, Timing timing, Unanswered unanswered, ConcurrentMap<String, Handling> busy) {
    Parts(Routes routes, Timing timing) {
      this(routes, timing, new Unanswered(), new ConcurrentHashMap<>());
    }
  }

  Call(Parts parts, List<StoredMessage> messages) {
    this.parts = parts;
    long end = System.nanoTime() + parts.timing().call().toNanos();
    lastBegin = end - parts.timing().handler().toNanos();
    call = new SideBySide(messages, end, Run::new);
  }

  List<Result> run() throws InterruptedException {
    return call.results();
  }

  /** The messages of one key, in order. */
  private final class Run extends SideBySide.Run<KeyRun.Item, Handling> {
    private Run(SideBySide call) {
      super(call);
    }

    @Override
    protected Item newItem(int index, int position, StoredMessage message) {
      return new Item(index, position, message);
    }

    @Override
    protected String destination(Item item) {
      HandlerThreads lane = parts.routes().lane(item.message());
      return lane == null ? super.destination(item) : lane.name();
    }

    @Override
    protected @Nullable Result begin(Item item) {
      Result known = parts.unanswered().of(item.message());
      HandlerThreads lane = parts.routes().lane(item.message());
      if (known != null || lane == null) {
        return known != null ? known : Routes.withoutHandler(item.message());
      }
      Handling handling = new Handling(lane, item.message(), parts.busy(), lastBegin);
      if (isBegun(handling)) {
        var unused = handling.result().thenAccept(this::ended);
        handling.start();
      }
      return null;
    }

    @Override
    protected long patience(@Nullable Handling current, long now) {
      return current == null ? parts.timing().patience().toNanos() : current.patience(now);
    }

    @Override
    protected Result left(Item item, @Nullable Handling current) {
      if (current == null) {
        HandlerThreads lane = parts.routes().lane(item.message());
        return lane == null ? Routes.withoutHandler(item.message()) : lane.noTime();
      }
      if (current.remove()) {
        return current.notBegun();
      }
      HandlerThreads threads = current.threads();
      threads.left();
      return parts.unanswered().leave(item.message(), threads.name(), current.result());
    }

    @Override
    protected void withdraw(Handling current) {
      boolean ignored = current.remove();
    }

    /** What the call has left before goes on. */
    @Override
    protected Result interrupted(Item item, @Nullable Handling current) {
      return current == null ? left(item, null) : current.stop();
    }
  }
}
