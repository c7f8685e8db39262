package dev.outbox.publisher.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests as Standard Webhooks say: {@code v1}, HMAC with SHA-256. */
final class Secret {
  private static final String PREFIX = "whsec_";
  private static final String ALGORITHM = "HmacSHA256";
  private static final int LEAST = 24;
  private static final int MOST = 64;

  private final SecretKeySpec key;

  private Secret(SecretKeySpec key) {
    this.key = key;
  }

  /**
   * Reads a secret.
   *
   * @throws IllegalArgumentException saying what is wrong with it, and nothing of it
   */
  static Secret of(String text) {
    String form = "is not %s and then %s to %s bytes in Base64".formatted(PREFIX, LEAST, MOST);
    if (!text.startsWith(PREFIX)) {
      throw new IllegalArgumentException("a secret for signing %s".formatted(form));
    }
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(text.substring(PREFIX.length()));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a secret for signing %s".formatted(form));
    }
    if (bytes.length < LEAST || bytes.length > MOST) {
      throw new IllegalArgumentException(
          "a secret for signing has %s bytes, it %s".formatted(bytes.length, form));
    }
    return new Secret(new SecretKeySpec(bytes, ALGORITHM));
  }

  /** The signature, with its version. */
  String sign(String id, long timestamp, byte[] body) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update("%s.%s.".formatted(id, timestamp).getBytes(UTF_8));
      return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK cannot sign with " + ALGORITHM, e);
    }
  }
}
