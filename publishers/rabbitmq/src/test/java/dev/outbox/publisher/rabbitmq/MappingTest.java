package dev.outbox.publisher.rabbitmq;

import static dev.outbox.publisher.rabbitmq.TestMessages.message;
import static dev.outbox.publisher.rabbitmq.TestMessages.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Header;
import dev.outbox.publisher.core.Destination;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MappingTest {

  @Test
  @DisplayName("a replay says in a header of its own what it repeats")
  void replay() {
    Mapping mapping =
        new Mapping(
            Destination.aggregateType(),
            Destination.pattern("{eventType}"),
            stored -> stored.message().payload());
    Map<String, Object> headers =
        mapping
            .of(stored(message("orders", "OrderPlaced", "k").header(Header.REPLAY_OF, "before")))
            .properties()
            .getHeaders();
    assertThat(headers).containsEntry("replay-of", "before").doesNotContainKey(Mapping.HEADERS);
  }
}
