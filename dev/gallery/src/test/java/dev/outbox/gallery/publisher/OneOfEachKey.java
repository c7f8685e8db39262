package dev.outbox.gallery.publisher;

import dev.outbox.spi.publisher.MessagePublisher;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.jspecify.annotations.Nullable;

/**
 * The right one, as simple as can be: of each key one message is on its way at a time, so none
 * overtakes another. A message that is not delivered stops its key; one that shows that its topic
 * or the broker is not there stops all that goes there.
 */
class OneOfEachKey implements MessagePublisher {
  private final Kafka kafka;
  private final KafkaProducer<byte[], byte[]> producer;

  OneOfEachKey(Kafka kafka) {
    this.kafka = kafka;
    this.producer = kafka.producer();
  }

  @Override
  public List<Result> publish(List<StoredMessage> messages) throws InterruptedException {
    Call call = new Call();
    for (List<StoredMessage> round : rounds(messages)) {
      Map<StoredMessage, Future<?>> sent = new LinkedHashMap<>();
      for (StoredMessage message : round) {
        Result known = call.known(message);
        if (known != null) {
          call.answer(message, known);
          continue;
        }
        Future<?> future = producer.send(kafka.record(message));
        if (future.isDone()) {
          call.await(message, future);
        } else {
          sent.put(message, future);
        }
      }
      for (Map.Entry<StoredMessage, Future<?>> one : sent.entrySet()) {
        call.await(one.getKey(), one.getValue());
      }
    }
    return messages.stream().map(call.results::get).toList();
  }

  /** The first message of each key, the second of each, and so on. */
  private static List<List<StoredMessage>> rounds(List<StoredMessage> messages) {
    Map<String, Integer> counts = new HashMap<>();
    List<List<StoredMessage>> rounds = new ArrayList<>();
    for (StoredMessage message : messages) {
      int count = counts.merge(message.key(), 1, Integer::sum);
      if (count > rounds.size()) {
        rounds.add(new ArrayList<>());
      }
      rounds.get(count - 1).add(message);
    }
    return rounds;
  }

  /** What an error of Kafka's client means. */
  Result resultOf(StoredMessage message, Throwable error) {
    return kafka.resultOf(message, error);
  }

  /** What is known during one call. */
  private final class Call {
    private final Map<StoredMessage, Result> results = new HashMap<>();
    private final Map<String, Result> stoppedKeys = new HashMap<>();
    private final Map<String, Result> deadTopics = new HashMap<>();
    private @Nullable Result brokerGone;

    @Nullable Result known(StoredMessage message) {
      if (brokerGone != null) {
        return brokerGone;
      }
      Result known = stoppedKeys.get(message.key());
      return known != null ? known : deadTopics.get(kafka.topic(message));
    }

    void answer(StoredMessage message, Result result) {
      results.put(message, result);
      if (!(result instanceof Result.Delivered)) {
        stoppedKeys.putIfAbsent(
            message.key(), Result.unavailable("an earlier one failed", kafka.topic(message)));
      }
    }

    void await(StoredMessage message, Future<?> future) throws InterruptedException {
      try {
        future.get();
        answer(message, Result.delivered());
      } catch (ExecutionException e) {
        Result result = resultOf(message, e.getCause());
        answer(message, result);
        if (result instanceof Result.Unavailable u && u.destination() != null) {
          deadTopics.put(u.destination(), result);
        } else if (result instanceof Result.Unavailable) {
          brokerGone = result;
        }
      }
    }
  }

  @Override
  public void close() {
    producer.close(Duration.ofSeconds(1));
  }
}
