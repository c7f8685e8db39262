package dev.outbox.testing;

import static java.util.Objects.requireNonNull;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.assertj.core.api.AssertProvider;

/**
 * A publisher without a broker: delivers everything, unless told otherwise, and keeps what it
 * delivered. Like every publisher, it delivers no message after an earlier one of its key that was
 * not delivered. {@code assertThat(publisher)} of AssertJ says what should be there. Safe for use
 * by many threads.
 */
public final class RecordingPublisher implements MessagePublisher, AssertProvider<PublisherAssert> {
  private final List<StoredMessage> delivered = new CopyOnWriteArrayList<>();
  private volatile Function<StoredMessage, Result> answer = message -> Result.delivered();

  @Override
  public List<Result> publish(List<StoredMessage> messages) {
    List<Result> results = new ArrayList<>();
    Set<String> stopped = new HashSet<>();
    for (StoredMessage message : messages) {
      if (stopped.contains(message.key())) {
        results.add(Result.failed("an earlier message of its key was not delivered"));
        continue;
      }
      Result result = requireNonNull(answer.apply(message), "the answer to a message is null");
      if (result instanceof Result.Delivered) {
        delivered.add(message);
      } else {
        stopped.add(message.key());
      }
      results.add(result);
    }
    return results;
  }

  /** From now on, what to say of each message; it may also throw. */
  public void answer(Function<StoredMessage, Result> answer) {
    this.answer = requireNonNull(answer, "answer");
  }

  /** What was delivered so far, in order; a copy. */
  public List<StoredMessage> delivered() {
    return List.copyOf(delivered);
  }

  /** Forgets what was delivered, and delivers everything again. */
  public void clear() {
    delivered.clear();
    answer = message -> Result.delivered();
  }

  /** For AssertJ: call {@code assertThat(publisher)}. */
  @Override
  public PublisherAssert assertThat() {
    return new PublisherAssert(delivered.stream().map(StoredMessage::message).toList());
  }
}
