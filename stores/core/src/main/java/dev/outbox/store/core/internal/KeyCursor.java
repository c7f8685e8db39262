package dev.outbox.store.core.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A key that a page of keys ended with.
 *
 * @param behind the message that it waits for
 */
public record KeyCursor(int bucket, long behind, String key) {
  private static final KeyCursor FIRST = new KeyCursor(-1, -1, "");

  /**
   * @param text null: before all keys
   * @throws IllegalArgumentException when no page has named it
   */
  public static KeyCursor of(@Nullable String text) {
    if (text == null) {
      return FIRST;
    }
    try {
      String[] parts = new String(Base64.getUrlDecoder().decode(text), UTF_8).split(":", 3);
      return new KeyCursor(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), parts[2]);
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "after is %s, which no page of keys has named".formatted(text), e);
    }
  }

  /** Has no character that means something to a shell or in a URL, whatever the key is. */
  @Override
  public String toString() {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString("%s:%s:%s".formatted(bucket, behind, key).getBytes(UTF_8));
  }
}
