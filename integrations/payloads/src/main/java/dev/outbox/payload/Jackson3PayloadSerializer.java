package dev.outbox.payload;

import static java.util.Objects.requireNonNull;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** JSON by Jackson 3, {@code tools.jackson}; as Spring Boot 4 has it. */
public final class Jackson3PayloadSerializer implements PayloadSerializer {
  private final JsonMapper mapper;

  private Jackson3PayloadSerializer(JsonMapper mapper) {
    this.mapper = requireNonNull(mapper, "mapper");
  }

  /** Writes as the mapper does. */
  public static Jackson3PayloadSerializer of(JsonMapper mapper) {
    return new Jackson3PayloadSerializer(mapper);
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
    } catch (JacksonException e) {
      throw new InvalidMessageException(
          "Jackson cannot write %s: %s".formatted(event.getClass().getName(), e.getMessage()), e);
    }
  }
}
