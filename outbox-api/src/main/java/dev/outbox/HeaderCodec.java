package dev.outbox;

import java.util.ArrayList;
import java.util.List;

/** Reads JSON for {@link Header#fromJson}. */
final class HeaderCodec {
  private final String json;
  private int at;

  private HeaderCodec(String json) {
    this.json = json;
  }

  static List<Header> decode(String json) {
    HeaderCodec reader = new HeaderCodec(json);
    List<Header> headers = reader.headers();
    if (reader.next() != 0) {
      throw reader.wrong("the end");
    }
    return headers;
  }

  private List<Header> headers() {
    List<Header> headers = new ArrayList<>();
    char open = next();
    if (open != '[' && open != '{') {
      throw wrong("[ or {");
    }
    at++;
    char close = open == '[' ? ']' : '}';
    if (next() == close) {
      at++;
      return headers;
    }
    while (true) {
      headers.add(open == '[' ? pair() : member());
      if (next() == close) {
        at++;
        return headers;
      }
      expect(',');
    }
  }

  private Header pair() {
    expect('[');
    String name = string();
    expect(',');
    String value = string();
    expect(']');
    return new Header(name, value);
  }

  private Header member() {
    String name = string();
    expect(':');
    return new Header(name, string());
  }

  private String string() {
    expect('"');
    StringBuilder text = new StringBuilder();
    while (at < json.length()) {
      char c = json.charAt(at++);
      if (c == '"') {
        return text.toString();
      }
      text.append(c == '\\' ? escaped() : c);
    }
    throw wrong("a closing quote");
  }

  private char escaped() {
    char c = at < json.length() ? json.charAt(at++) : 0;
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        int code = 0;
        for (int i = 0; i < 4; i++) {
          int digit = at < json.length() ? Character.digit(json.charAt(at++), 16) : -1;
          if (digit < 0) {
            throw wrong("four hexadecimal digits");
          }
          code = code * 16 + digit;
        }
        yield (char) code;
      }
      default -> throw wrong("an escape sequence");
    };
  }

  /** The next character that is not white space, which stays unread; 0 at the end. */
  private char next() {
    while (at < json.length() && " \t\r\n".indexOf(json.charAt(at)) >= 0) {
      at++;
    }
    return at < json.length() ? json.charAt(at) : 0;
  }

  private void expect(char c) {
    if (next() != c) {
      throw wrong(String.valueOf(c));
    }
    at++;
  }

  private IllegalArgumentException wrong(String expected) {
    return new IllegalArgumentException(
        "headers are not [[\"name\",\"value\"],…] or {\"name\":\"value\",…}: expected "
            + expected
            + " at index "
            + at);
  }
}
