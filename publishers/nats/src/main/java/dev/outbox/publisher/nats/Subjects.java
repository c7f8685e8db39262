package dev.outbox.publisher.nats;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.outbox.OutboxMessage;
import dev.outbox.publisher.core.PercentEncoding;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** The subjects of messages. */
final class Subjects {
  /** Longer ones would not fit into a line of the protocol, 4,096 bytes, beside each other. */
  static final int LONGEST_TOKEN = 255;

  static final int LONGEST = 3_500;

  /** Tokens of visible ASCII without wildcards; a dollar at the begin is the server's own. */
  private static final Pattern VALID =
      Pattern.compile("(?!\\$)[!-~&&[^.*>]]+(?:\\.[!-~&&[^.*>]]+)*+");

  private Subjects() {}

  /**
   * A value as one token: letters, digits, hyphens and underscores stay, all else comes as {@code
   * %2E}. What is then too long is replaced by its hash; the header has the value itself.
   */
  static String token(String value) {
    String token =
        PercentEncoding.encode(
            value, c -> PercentEncoding.isLetterOrDigit(c) || c == '-' || c == '_');
    return token.length() <= LONGEST_TOKEN ? token : "sha256-" + hash(value);
  }

  private static String hash(String value) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(value.getBytes(UTF_8));
      return HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JDK has no SHA-256", e);
    }
  }

  /**
   * Refuses what no message can be published to.
   *
   * @throws IllegalArgumentException saying what is wrong
   */
  static String checked(String subject) {
    if (!VALID.matcher(subject).matches()) {
      throw new IllegalArgumentException(
          "the subject %s is none that can be published to: take tokens of visible ASCII with dots between them, without * and >, and without $ at the begin"
              .formatted(subject));
    }
    if (subject.length() > LONGEST) {
      throw new IllegalArgumentException(
          "the subject has %s characters, at most %s fit: choose a shorter one"
              .formatted(subject.length(), LONGEST));
    }
    return subject;
  }

  /**
   * What is in trouble when a subject is: where the last token is the message's key, all keys
   * beside it, because a stream takes them all or none. Beside another token, as the aggregate
   * type, lies what other streams have.
   */
  static String place(String subject, OutboxMessage message) {
    int last = subject.lastIndexOf('.');
    String token = subject.substring(last + 1);
    boolean isKey =
        token.equals(token(message.recordKey())) || token.equals(token(message.aggregateId()));
    return last >= 0 && isKey ? subject.substring(0, last) + ".*" : subject;
  }
}
