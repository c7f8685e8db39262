package dev.outbox.publisher.rabbitmq;

import static dev.outbox.embedded.TestMessages.message;
import static dev.outbox.embedded.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import dev.outbox.publisher.core.Destination;
import dev.outbox.publisher.core.Outcome;
import dev.outbox.publisher.rabbitmq.Sent.End;
import dev.outbox.publisher.rabbitmq.Sent.Ended;
import dev.outbox.spi.store.StoredMessage;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the broker says of many messages, told to the channel directly. */
class ConfirmChannelTest {
  private static final int MANY = 20_000;

  private final Mapping mapping =
      new Mapping(
          Destination.aggregateType(),
          Destination.pattern("{eventType}"),
          stored -> stored.message().payload());
  private final BlockingQueue<End> ends = new LinkedBlockingQueue<>();
  private final Timing timing = Timing.of(Duration.ofSeconds(20));

  private static Channel channel() {
    return (Channel)
        Proxy.newProxyInstance(
            Channel.class.getClassLoader(),
            new Class<?>[] {Channel.class},
            (proxy, method, arguments) -> null);
  }

  @Test
  @Timeout(5) // comparing each with all takes much longer
  @DisplayName("of many that come back each is found at once, and the others are delivered")
  void manyReturned() throws IOException {
    ConfirmChannel channel = new ConfirmChannel(channel(), () -> {}, idle -> {});
    List<StoredMessage> messages =
        Stream.generate(() -> stored(message("exchange", "k"))).limit(MANY).toList();
    Run run = new Outcome<>(messages, Run::new).runs().get(0);
    List<Mapping.Outgoing> returned = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      Mapping.Outgoing outgoing = mapping.of(messages.get(i));
      channel.send(new Sent(run.item(i), outgoing.place(), ends, timing.places()), outgoing);
      if (i % 3 != 0) {
        returned.add(outgoing);
      }
    }
    for (Mapping.Outgoing one : returned) {
      channel.handleReturn(312, "NO_ROUTE", "exchange", "Happened", one.properties(), one.body());
    }
    channel.handleAck(MANY, true);
    assertThat(ends).hasSize(MANY);
    for (End end : ends) {
      boolean isThere = end.sent().item.position() % 3 == 0;
      assertThat(end.how()).isEqualTo(isThere ? Ended.CONFIRMED : Ended.REFUSED);
    }
  }
}
