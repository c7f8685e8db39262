package dev.outbox;

import static java.util.Objects.requireNonNull;

/**
 * A header of a message. Order is kept, and a name may occur more than once (A3).
 *
 * @param name not blank, at most {@link OutboxMessage#MAX_TEXT} characters
 * @param value may be empty
 */
public record Header(String name, String value) {
  public Header {
    requireNonNull(name, "name");
    requireNonNull(value, "value");
  }
}
