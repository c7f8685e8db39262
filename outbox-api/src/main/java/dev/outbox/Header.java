package dev.outbox;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A header of a message. Order is kept, and a name may occur more than once (A3). Its limits are
 * checked when a message is built.
 *
 * @param name not blank, at most {@link OutboxMessage#MAX_TEXT} code points
 * @param value may be empty
 */
public record Header(String name, String value) {

  /**
   * The name of the header that says which schema the payload follows: an absolute URI. Publishers
   * of CloudEvents pass it on as the attribute {@code dataschema}.
   */
  public static final String DATA_SCHEMA = "dataschema";

  /**
   * The name of the header that a replay from the archive adds, or replaces: its value is the id of
   * the message that left before.
   */
  public static final String REPLAY_OF = "replay-of";

  public Header {
    requireNonNull(name, "name");
    requireNonNull(value, "value");
  }

  /**
   * Headers as one text, for what cannot keep order and repeats (A3): {@code [["name","value"],…]},
   * {@code []} for none.
   */
  public static String toJson(List<Header> headers) {
    return headers.stream()
        .map(header -> "[" + Texts.json(header.name) + "," + Texts.json(header.value) + "]")
        .collect(Collectors.joining(",", "[", "]"));
  }

  /**
   * Reads what {@link #toJson} gives or, for those who insert by plain SQL, an object {@code
   * {"name":"value",…}} whose values are texts.
   *
   * @throws IllegalArgumentException saying what is wrong, and where
   */
  public static List<Header> fromJson(String json) {
    return HeaderCodec.decode(json);
  }
}
