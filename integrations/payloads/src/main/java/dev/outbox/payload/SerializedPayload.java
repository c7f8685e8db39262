package dev.outbox.payload;

import static java.util.Objects.requireNonNull;

import dev.outbox.Header;
import java.util.List;

/**
 * What a {@link PayloadSerializer} makes of an event.
 *
 * @param bytes the payload; not copied
 * @param contentType its media type, as {@code application/json}
 * @param headers added to the message's own; may be empty
 */
@SuppressWarnings("ArrayRecordComponent") // nobody compares them
public record SerializedPayload(byte[] bytes, String contentType, List<Header> headers) {
  public SerializedPayload {
    requireNonNull(bytes, "bytes");
    requireNonNull(contentType, "contentType");
    headers = List.copyOf(headers);
  }

  /** Without headers. */
  public static SerializedPayload of(byte[] bytes, String contentType) {
    return new SerializedPayload(bytes, contentType, List.of());
  }
}
