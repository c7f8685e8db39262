package dev.outbox.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

@DisplayName("JSON by Jackson 2 and by Jackson 3")
class JacksonTest {

  @OutboxEvent(aggregate = "order", key = "orderId")
  public record OrderPlaced(String orderId, BigDecimal totalPaid, List<String> items) {}

  @OutboxEvent(aggregate = "order", key = "orderId")
  public record OrderBroken(String orderId) {
    public Object getDetails() {
      throw new IllegalStateException("no details");
    }
  }

  static List<PayloadSerializer> serializers() {
    return List.of(
        Jackson2PayloadSerializer.of(
            new ObjectMapper()
                .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true)),
        Jackson3PayloadSerializer.of(
            JsonMapper.builder()
                .disable(tools.jackson.databind.MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                .propertyNamingStrategy(tools.jackson.databind.PropertyNamingStrategies.SNAKE_CASE)
                .build()));
  }

  @ParameterizedTest
  @MethodSource("serializers")
  @DisplayName("is written as the user's mapper is set")
  void written(PayloadSerializer serializer) {
    OutboxMessage message =
        OutboxEvents.of(serializer)
            .message(new OrderPlaced("4711", new BigDecimal("12.50"), List.of("Tee, grün")));
    assertThat(message.payloadAsString())
        .isEqualTo(
            """
            {"order_id":"4711","total_paid":12.50,"items":["Tee, grün"]}""");
    assertThat(message.contentType()).isEqualTo("application/json");
    assertThat(message.headers()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("serializers")
  @DisplayName("that cannot be written is no message, and the error names the class")
  void refused(PayloadSerializer serializer) {
    assertThatThrownBy(() -> OutboxEvents.of(serializer).message(new OrderBroken("1")))
        .isInstanceOf(InvalidMessageException.class)
        .hasMessageContaining("Jackson cannot write " + OrderBroken.class.getName())
        .hasMessageContaining("no details")
        .hasRootCauseInstanceOf(IllegalStateException.class);
  }
}
