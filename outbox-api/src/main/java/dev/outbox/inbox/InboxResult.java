package dev.outbox.inbox;

import static java.util.Objects.requireNonNull;

import dev.outbox.InvalidMessageException;
import dev.outbox.OutboxMessage;
import dev.outbox.Texts;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What came of a message, to be given back when it arrives again. Immutable. A failure may be a
 * result, too, when it must not be tried again.
 */
public final class InboxResult {

  /** The most bytes of a content. Put larger things elsewhere and store a reference. */
  public static final int MAX_CONTENT = OutboxMessage.MAX_PAYLOAD;

  private static final InboxResult NONE = new InboxResult(new byte[0], null);

  private final byte[] content;
  private final @Nullable String contentType;

  private InboxResult(byte[] content, @Nullable String contentType) {
    this.content = content;
    this.contentType = contentType;
  }

  /** Nothing but that it is done: no bytes and no content type. */
  public static InboxResult none() {
    return NONE;
  }

  /**
   * @param content copied; may be empty
   * @param contentType its media type, or null
   * @throws InvalidMessageException when one of them is over its limit, naming it
   */
  public static InboxResult of(byte[] content, @Nullable String contentType) {
    if (requireNonNull(content, "content").length > MAX_CONTENT) {
      throw new InvalidMessageException(
          "the result has %s bytes, at most %s are allowed: store it elsewhere and keep a reference"
              .formatted(content.length, MAX_CONTENT));
    }
    return new InboxResult(
        content.clone(), contentType == null ? null : Texts.name("contentType", contentType));
  }

  /** A copy of the content, exactly as given. */
  public byte[] content() {
    return content.clone();
  }

  /** The content's media type, or null when none was given. */
  public @Nullable String contentType() {
    return contentType;
  }

  @Override
  public boolean equals(@Nullable Object o) {
    return o instanceof InboxResult r
        && Arrays.equals(content, r.content)
        && Objects.equals(contentType, r.contentType);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(content) + Objects.hashCode(contentType);
  }

  /** Without the content, which may be secret. */
  @Override
  public String toString() {
    return "%s bytes of %s".formatted(content.length, contentType);
  }
}
