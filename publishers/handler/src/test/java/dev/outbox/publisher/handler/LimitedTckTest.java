package dev.outbox.publisher.handler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.publisher.core.LimitedPublisher;
import dev.outbox.publisher.core.Rate;
import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;

/** The suite through a limit, which its larger batches meet. */
class LimitedTckTest extends HandlerTck {
  private static final AtomicInteger LIMITED = new AtomicInteger();

  /** Counts what waits for its turn. */
  private record Counting(MessagePublisher limited) implements MessagePublisher {
    @Override
    public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
      List<Result> results = limited.publish(messages);
      results.stream()
          .filter(one -> one instanceof Result.Unavailable u && u.error().startsWith("waits"))
          .forEach(one -> LIMITED.incrementAndGet());
      return results;
    }

    @Override
    public void close() {
      limited.close();
    }
  }

  @AfterAll
  static void theLimitWasMet() {
    assertThat(LIMITED).hasPositiveValue();
  }

  @Override
  MessagePublisher publisher(MessageHandler handler) {
    return new Counting(
        LimitedPublisher.builder(HandlerTckTest.handlers(handler, timeout()))
            .limit("odd", Rate.perSecond(50), message -> message.sequence() % 2 == 1)
            .build());
  }
}
