package dev.outbox.publisher.kafka;

import dev.outbox.publisher.kafka.ProducerHolder.Connection;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/** The producer of one transactional id; used by one call at a time. */
final class TransactionalProducer {
  final ProducerHolder producer;
  private @Nullable Connection connection;
  private boolean initialised;

  TransactionalProducer(ProducerHolder producer) {
    this.producer = producer;
  }

  /** The producer, ready to begin a transaction; ends what its predecessor left open. */
  Connection ready(long patience) throws InterruptedException {
    Connection ready = producer.get(patience);
    if (ready != connection || !initialised) {
      connection = ready;
      ready.producer().initTransactions();
      initialised = true;
    }
    return ready;
  }

  /** After an error: aborts the transaction if asked to and possible, or gives the producer up. */
  void failed(Exception error, boolean abort) {
    if (KafkaResults.isProducersFault(error) && connection != null) {
      connection.giveUp(error);
      retire();
    } else {
      abortOrRetire(abort);
    }
  }

  /** Aborts the transaction if asked to and possible; otherwise retires the producer. */
  void abortOrRetire(boolean abort) {
    if (abort && initialised && connection != null) {
      try {
        connection.producer().abortTransaction();
        return;
      } catch (InterruptException e) {
        throw e;
      } catch (KafkaException | IllegalStateException e) {
        // it is of no use any more
      }
    }
    retire();
  }

  /** Gives the producer up; the broker ends its transaction when the next one starts. */
  void retire() {
    initialised = false;
    if (connection != null) {
      boolean ignored = connection.retire();
      connection = null;
    }
  }
}
