package dev.outbox.spring.autoconfigure;

import com.rabbitmq.client.ConnectionFactory;

/**
 * How the application reaches RabbitMQ and logs in.
 *
 * @param factory of RabbitMQ's client, as Spring has set it up
 * @param addresses the nodes, with commas; empty: the host of the factory
 */
record RabbitConnection(ConnectionFactory factory, String addresses) {

  /** Without what may be secret. */
  @Override
  public String toString() {
    return addresses;
  }
}
