package dev.outbox.store.jdbc.internal;

import dev.outbox.PermanentOutboxException;
import java.util.List;
import java.util.Locale;

/**
 * A distributed database that takes another's driver and statements, and does not keep what the
 * store relies on there. Most of it would show as order that is lost in silence.
 *
 * @param name for people
 * @param sign a part of what it says of itself, in lower case
 * @param why a clause: what it does not keep
 */
public record UnsupportedDatabase(String name, String sign, String why) {

  /**
   * Refuses a server that is one of these.
   *
   * @param wanted the name of the database that it should be
   * @param said what the server says of itself
   */
  public static void refuse(List<UnsupportedDatabase> these, String wanted, String said) {
    for (UnsupportedDatabase one : these) {
      if (said.toLowerCase(Locale.ROOT).contains(one.sign)) {
        throw new PermanentOutboxException(
            "the server is %s and not %s (it says %s): %s; docs/scale.md says what to use in its place"
                .formatted(one.name, wanted, said, one.why));
      }
    }
  }
}
