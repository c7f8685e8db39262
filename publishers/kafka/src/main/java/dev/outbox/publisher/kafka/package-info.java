/**
 * The Kafka publisher: {@link dev.outbox.publisher.kafka.KafkaPublisher}.
 *
 * <p>{@code Call} is the class to read after it. A {@code Run} has the messages of one key in a
 * call, and a {@code Sending} is one record on its way. {@code Lookup} says whether a message can
 * be sent now, by what {@code Topics} knows, and {@code Records} makes its record. {@code
 * ProducerHolder} has the producer, and makes another one when it is of no use any more. {@code
 * Liveness} says whether the cluster answers, for which {@code Cluster} asks it. {@code
 * KafkaResults} says which result an exception means.
 */
@NullMarked
package dev.outbox.publisher.kafka;

import org.jspecify.annotations.NullMarked;
