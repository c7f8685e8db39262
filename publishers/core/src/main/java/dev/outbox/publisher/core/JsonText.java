package dev.outbox.publisher.core;

import dev.outbox.Texts;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tells whether a payload is one value of JSON and nothing else, so that it can stand inside an
 * event as it is: what is not, such as {@code {}, "id": "forged"}, would change the event.
 */
public final class JsonText {
  /** Deeper ones are no accident, and readers give up on them too. */
  private static final int DEEPEST = 200;

  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");

  private static final Pattern FOUR_DIGITS = Pattern.compile("[0-9a-fA-F]{4}");

  private final String text;
  private int at;

  private JsonText(String text) {
    this.text = text;
  }

  /** The text of it, if it is JSON in UTF-8. */
  public static Optional<String> of(byte[] payload) {
    return Texts.utf8(payload).filter(text -> new JsonText(text).isOneValue());
  }

  private boolean isOneValue() {
    return value(0) && next() == 0 && at == text.length();
  }

  private boolean value(int depth) {
    char c = next();
    return switch (c) {
      case '{', '[' -> depth < DEEPEST && list(c == '{', depth + 1);
      case '"' -> string();
      case 't' -> word("true");
      case 'f' -> word("false");
      case 'n' -> word("null");
      default -> number();
    };
  }

  private boolean list(boolean ofMembers, int depth) {
    char end = ofMembers ? '}' : ']';
    at++;
    if (take(end)) {
      return true;
    }
    do {
      if (ofMembers && !(next() == '"' && string() && take(':'))) {
        return false;
      }
      if (!value(depth)) {
        return false;
      }
    } while (take(','));
    return take(end);
  }

  private boolean string() {
    for (at++; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c == '"') {
        at++;
        return true;
      }
      if (c < ' ' || (c == '\\' && !escape())) {
        return false;
      }
    }
    return false;
  }

  /** Ends at the last character of it. */
  private boolean escape() {
    at++;
    if (at < text.length() && text.charAt(at) == 'u') {
      boolean is = FOUR_DIGITS.matcher(text).region(at + 1, text.length()).lookingAt();
      at += 4;
      return is;
    }
    return at < text.length() && "\"\\/bfnrt".indexOf(text.charAt(at)) >= 0;
  }

  private boolean number() {
    Matcher number = NUMBER.matcher(text).region(at, text.length());
    if (!number.lookingAt()) {
      return false;
    }
    at = number.end();
    return true;
  }

  private boolean word(String word) {
    boolean is = text.startsWith(word, at);
    at += word.length();
    return is;
  }

  private boolean take(char c) {
    boolean is = next() == c;
    at += is ? 1 : 0;
    return is;
  }

  /** The next character that is not white space, which stays unread; 0 at the end. */
  private char next() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }
}
