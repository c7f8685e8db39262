package dev.outbox.publisher.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.publisher.core.Attributes;
import dev.outbox.publisher.core.Destination;
import dev.outbox.spi.store.StoredMessage;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToIntBiFunction;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Makes a message's record, as the user has chosen; {@link KafkaPublisher} says what the record has
 * (P4).
 *
 * @param partition of a message, given how many there are; null: by the record's key
 * @param aroundSend runs what gives a message's record to Kafka's client
 */
record Records(
    Destination destination,
    Function<StoredMessage, byte @Nullable []> key,
    Function<StoredMessage, byte @Nullable []> value,
    @Nullable ToIntBiFunction<StoredMessage, Integer> partition,
    @Nullable URI cloudEventsSource,
    BiConsumer<StoredMessage, Runnable> aroundSend) {

  static byte[] keyOf(StoredMessage message) {
    return message.message().recordKey().getBytes(UTF_8);
  }

  static byte[] valueOf(StoredMessage message) {
    return message.message().payload();
  }

  static void justSend(StoredMessage message, Runnable send) {
    send.run();
  }

  /** Where the record goes. */
  static Place place(ProducerRecord<?, ?> record) {
    return new Place(record.topic(), record.partition());
  }

  /**
   * The record. It has no timestamp of its own: after a long outage brokers may refuse old ones. It
   * names its partition, so that it is known beforehand which records go to the same one.
   *
   * @throws IllegalArgumentException when a function of the user's gives nothing usable
   */
  ProducerRecord<byte[], byte[]> of(StoredMessage stored, String topic, int partitions) {
    byte[] chosenKey = chosen("key", stored, key);
    byte[] chosenValue = chosen("value", stored, value);
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            topic, partition(stored, chosenKey, partitions), chosenKey, chosenValue);
    Headers headers = record.headers();
    Attributes.forEachHeader(
        stored, cloudEventsSource, (name, text) -> headers.add(name, text.getBytes(UTF_8)));
    return record;
  }

  /** The topics of messages that have one, each once, by name. */
  Set<String> topicsOf(List<StoredMessage> messages) {
    Set<String> topics = new TreeSet<>();
    for (StoredMessage message : messages) {
      try {
        topics.add(destination.of(message));
      } catch (Destination.MissingException e) {
        // a relay says so of the message itself
      }
    }
    return topics;
  }

  /** By default that which Kafka's client chooses; a record without a key goes by the message's. */
  private int partition(StoredMessage stored, byte @Nullable [] chosenKey, int partitions) {
    ToIntBiFunction<StoredMessage, Integer> choice = partition;
    if (choice == null) {
      byte[] hashed = chosenKey == null ? keyOf(stored) : chosenKey;
      return Utils.toPositive(Utils.murmur2(hashed)) % partitions;
    }
    Integer given = chosen("partition", stored, message -> choice.applyAsInt(message, partitions));
    if (given == null || given < 0 || given >= partitions) {
      throw new IllegalArgumentException(
          "the partition of %s is %s, topic has %s: give one from 0 to %s"
              .formatted(stored, given, partitions, partitions - 1));
    }
    return given;
  }

  private static <T> @Nullable T chosen(
      String what, StoredMessage stored, Function<StoredMessage, ? extends @Nullable T> function) {
    try {
      return function.apply(stored);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException("the %s of %s threw %s".formatted(what, stored, e), e);
    }
  }
}
