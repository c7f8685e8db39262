package dev.outbox.publisher.rabbitmq;

import com.rabbitmq.client.AMQP;

/** A message as RabbitMQ's client takes it. */
record OutgoingMessage(Place place, AMQP.BasicProperties properties, byte[] body) {}
