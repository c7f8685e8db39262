package dev.outbox.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Makes sure that a form which comes back was made here, for the same thing. */
final class FormTokens {
  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec key = new SecretKeySpec(random(32), ALGORITHM);

  static byte[] random(int bytes) {
    byte[] random = new byte[bytes];
    new SecureRandom().nextBytes(random);
    return random;
  }

  /** A text for an address, or for a form. */
  static String text(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Takes as long whatever differs. */
  static boolean areEqual(String one, String other) {
    return MessageDigest.isEqual(one.getBytes(UTF_8), other.getBytes(UTF_8));
  }

  String of(String subject) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return text(mac.doFinal(subject.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Refuses a form that another site's page sent, or that is none of ours.
   *
   * @throws Refusal when it is one
   */
  void require(PageRequest request, String subject) {
    String token = request.text("token");
    if (!isOfOurPage(request) || token == null || !areEqual(token, of(subject))) {
      throw new Refusal(
          403, "This form does not come from this page, or is older than it: open the page again.");
    }
  }

  private static boolean isOfOurPage(PageRequest request) {
    String site = request.header("sec-fetch-site");
    String origin = request.header("origin");
    String host = request.header("host");
    boolean isOurs =
        origin != null
            && host != null
            && (origin.equals("http://" + host) || origin.equals("https://" + host));
    return site == null ? isOurs : site.equals("same-origin");
  }
}
