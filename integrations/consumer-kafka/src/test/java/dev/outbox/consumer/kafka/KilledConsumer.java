package dev.outbox.consumer.kafka;

import dev.outbox.embedded.ParentJvm;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A process that never gets beyond its transactions: it waits to be killed before the offsets. */
final class KilledConsumer {
  private KilledConsumer() {}

  public static void main(String[] args) throws Exception {
    ParentJvm parent = ParentJvm.connect();
    KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(
            Servers.settings(parent.get("bootstrap"), parent.get("group")),
            new StringDeserializer(),
            new StringDeserializer()) {
          @Override
          public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets) {
            parent.say("about to commit");
            for (; ; ) {
              try {
                parent.command(); // never comes
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }
          }
        };
    new Effects(parent.settings()).consumer(consumer, parent.get("topic")).build().run();
  }
}
