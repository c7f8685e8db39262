package dev.outbox.spring.autoconfigure;

import java.util.Map;

/** How the application reaches its brokers and logs in, as settings of a Kafka client. */
record KafkaConnection(Map<String, Object> settings) {

  /** Without what may be secret. */
  @Override
  public String toString() {
    return "settings " + settings.keySet();
  }
}
