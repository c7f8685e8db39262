package dev.outbox.publisher.nats;

import java.util.regex.Pattern;

/** URLs of servers, which may have a user and a password in them, or a token. */
final class Urls {
  /** A password that is not encoded may have a comma in it, or a slash. */
  private static final Pattern USER_INFO = Pattern.compile("//[^/\\s]*@|//[^\\s,]*@");

  private Urls() {}

  /** A text without them. */
  static String masked(String text) {
    return USER_INFO.matcher(text).replaceAll("//…@");
  }
}
