package dev.outbox;

import static java.util.Objects.requireNonNull;

/**
 * A header of a message. Order is kept, and a name may occur more than once (A3).
 *
 * @param name not blank, at most {@link OutboxMessage#MAX_TEXT} characters
 * @param value may be empty
 */
public record Header(String name, String value) {

  /**
   * The name of the header that says which schema the payload follows: an absolute URI. Publishers
   * of CloudEvents pass it on as the attribute {@code dataschema}.
   */
  public static final String DATA_SCHEMA = "dataschema";

  /**
   * The name of the header of a message that was replayed from the archive: the id of the one that
   * left before. It is one of the message's own headers and arrives as they do; names that begin
   * with {@code outbox-} are the publishers'. A replay replaces a header of this name.
   */
  public static final String REPLAY_OF = "replay-of";

  public Header {
    requireNonNull(name, "name");
    requireNonNull(value, "value");
  }
}
