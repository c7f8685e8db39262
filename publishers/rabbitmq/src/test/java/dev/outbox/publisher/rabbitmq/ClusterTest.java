package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.batch;
import static dev.outbox.embedded.TestMessages.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import dev.outbox.embedded.EmbeddedRabbit;
import dev.outbox.spi.publisher.Result;
import dev.outbox.spi.store.StoredMessage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** Three nodes, and one of them is lost. */
class ClusterTest {

  private static EmbeddedRabbit start(EmbeddedRabbit.Builder node) {
    try {
      return node.start();
    } catch (UnsupportedOperationException e) {
      throw new TestAbortedException("skipped: " + e.getMessage());
    }
  }

  @Test
  @DisplayName("when the leader of a quorum queue is lost, messages go on through the next one")
  void leaderLost() throws Exception {
    try (EmbeddedRabbit leader = start(EmbeddedRabbit.builder());
        EmbeddedRabbit node = start(EmbeddedRabbit.builder().join(leader));
        EmbeddedRabbit third = start(EmbeddedRabbit.builder().join(leader));
        RabbitPublisher publisher = RabbitPublisher.builder().uri(node.uri()).build()) {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(leader.uri());
      factory.setAutomaticRecoveryEnabled(false);
      try (Connection connection = factory.newConnection()) {
        Channel channel = connection.createChannel();
        channel.exchangeDeclare("order", BuiltinExchangeType.TOPIC, true);
        channel.queueDeclare("orders", true, false, false, Map.of("x-queue-type", "quorum"));
        channel.queueBind("orders", "order", "#");
      }
      assertThat(node.control("list_queues", "members"))
          .contains(
              "outbox@", "outbox%s@".formatted(node.port()), "outbox%s@".formatted(third.port()));
      assertThat(publisher.unreachable(Duration.ofMinutes(1))).isEmpty();
      leader.kill();
      List<StoredMessage> messages = batch(message("order", "a"), message("order", "b"));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  publisher.publish(messages).stream()
                      .allMatch(Result.Delivered.class::isInstance));
    }
  }
}
