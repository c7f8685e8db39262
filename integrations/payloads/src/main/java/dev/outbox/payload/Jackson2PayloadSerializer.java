package dev.outbox.payload;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;

/** JSON by Jackson 2, {@code com.fasterxml.jackson}; as Spring Boot 3 has it. */
public final class Jackson2PayloadSerializer implements PayloadSerializer {
  private final ObjectMapper mapper;

  private Jackson2PayloadSerializer(ObjectMapper mapper) {
    this.mapper = requireNonNull(mapper, "mapper");
  }

  /** Writes as the mapper does, which has to be one for JSON. */
  public static Jackson2PayloadSerializer of(ObjectMapper mapper) {
    return new Jackson2PayloadSerializer(mapper);
  }

  /**
   * The event as JSON.
   *
   * @throws InvalidMessageException when Jackson cannot write it
   */
  @Override
  public SerializedPayload serialize(OutboxMessage about, Object event) {
    try {
      return SerializedPayload.of(
          mapper.writeValueAsBytes(event), OutboxMessage.DEFAULT_CONTENT_TYPE);
    } catch (JsonProcessingException e) {
      throw new InvalidMessageException(
          "Jackson cannot write %s: %s".formatted(event.getClass().getName(), e.getMessage()), e);
    }
  }
}
