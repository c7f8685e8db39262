package dev.outbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Keeps passwords out of everything that is printed. */
public final class Secrets {
  private static final String MASK = "***";

  /** Looked for from the beginning of a word alone: a payload may be one word of a megabyte. */
  private static final String NAME =
      "(?<![a-z_.])[a-z_.]*(?:password|passwd|passphrase|pwd|secret|(?:access|session)_?token)\\d?";

  /** In a URL's parameters, in properties, in JAAS settings; SQL Server puts values in braces. */
  private static final Pattern PARAMETER =
      Pattern.compile(
          "(?i)("
              + NAME
              + "\\s*=\\s*)"
              + "(\"(?:[^\"\\\\]|\\\\.)*+\"|\\{[^}]{0,2000}+(?:}}[^}]{0,2000}+){0,9}}|[^&;,\\s]+?(?=[&;,\\s]|:\\s|$))");

  /** {@code //user:password@host}, but where a user's name may have an @ behind the port. */
  private static final Pattern USER_INFO =
      Pattern.compile(
          "(?<!sqlserver:)//([^/:@\\s]*):(?:[^?\\s]{0,2000}|(?!\\d+[/?,])\\S{0,2000})@");

  /** Oracle's {@code user/password@host}, for those who try it. */
  private static final Pattern THIN = Pattern.compile("(oracle:\\w+:[^/@\\s]*)/[^@\\s]*@");

  private static final Pattern TO_AMPERSAND = value("[^&]*");
  private static final Pattern TO_COMMA = value("[^&,)]*");
  private static final Pattern TO_SEMICOLON = value("[^;]*");
  private static final Pattern IN_BRACES = value("\\{(?:[^}]|}})*");
  private static final Pattern IN_QUOTES = value("\"(?:[^\"\\\\]|\\\\.)*");

  /** Shorter ones would turn ordinary words into stars. */
  private static final int LEAST = 4;

  private static final Set<String> known = ConcurrentHashMap.newKeySet();

  /** Names of users, hosts and databases, which are to be seen whatever the passwords are. */
  private static final Set<String> shown = ConcurrentHashMap.newKeySet();

  private static final Pattern OWN_PASSWORD =
      Pattern.compile("(?i)(?<![a-z_.\\d])(?:password|pwd)\\s*=\\s*[^&;,)\\s]");

  private Secrets() {}

  private static Pattern value(String pattern) {
    return Pattern.compile("(?i)" + NAME + "\\s*=\\s*(" + pattern + ")");
  }

  /**
   * From now on {@link #mask} leaves this text and all its parts alone. A secret that is also a
   * name is hidden only where it stands as a password.
   */
  static void show(@Nullable String text) {
    if (text != null && !text.isBlank()) {
      shown.add(text);
    }
  }

  /** {@link #show}s what is in a URL beside its passwords. */
  static void showIn(String url) {
    String rest = USER_INFO.matcher(url).replaceAll("//$1 ");
    rest = THIN.matcher(rest).replaceAll("$1 ");
    Arrays.stream(withoutParameters(rest).split("\\s+")).forEach(Secrets::show);
  }

  /** The URL without parameters that hold a secret; it may lose more than these. */
  private static String withoutParameters(String url) {
    String value =
        url.startsWith("jdbc:sqlserver:")
            ? "(?:\\{(?:[^}]|}})*}?|[^;]*)"
            : url.contains("(") ? "[^&,)]*" : "[^&]*";
    return url.replaceAll("(?i)" + NAME + "\\s*=\\s*" + value, " ");
  }

  /** What a variable has, without the end of the line in the file that it was made of. */
  static String given(String variable) {
    return variable.replaceFirst("\\R+\\z", "");
  }

  /** Whether a URL has its user's password in it. */
  static boolean isIn(String url) {
    return USER_INFO.matcher(url).find()
        || THIN.matcher(url).find()
        || OWN_PASSWORD.matcher(url).find();
  }

  /**
   * From now on {@link #mask} hides this text wherever it stands, except in {@link #show}n texts.
   */
  public static void hide(@Nullable String secret) {
    if (secret != null && secret.length() >= LEAST) {
      known.add(secret);
    }
  }

  /**
   * {@link #hide}s the passwords in a URL or in JAAS settings, as they stand there and decoded: a
   * driver's exception may show either, or a part.
   */
  static void hideIn(String url) {
    for (Pattern value : values(url)) {
      value.matcher(url).results().map(found -> found.group(1)).forEach(Secrets::hideEncoded);
    }
    USER_INFO.matcher(url).results().map(Secrets::password).forEach(Secrets::hideInParts);
  }

  /** Where a parameter's value may end: databases differ. */
  private static List<Pattern> values(String text) {
    if (text.startsWith("jdbc:sqlserver:")) {
      return List.of(TO_SEMICOLON, IN_BRACES);
    }
    return text.matches("(?s)(jdbc:(postgresql|mysql|mariadb)|mongodb(\\+srv)?):.*")
        ? List.of(TO_AMPERSAND, TO_COMMA)
        : List.of(TO_AMPERSAND, TO_COMMA, TO_SEMICOLON, IN_BRACES, IN_QUOTES);
  }

  /** Between the first colon and the last at sign. */
  private static String password(MatchResult userInfo) {
    return userInfo
        .group()
        .substring(userInfo.group(1).length() + 3, userInfo.group().length() - 1);
  }

  /** Hides the parts too: a driver takes a part of a badly encoded password for a host. */
  private static void hideInParts(String secret) {
    hideEncoded(secret);
    for (String part : secret.split("[@:/?#&;,]")) {
      hide(part.matches("\\d*") ? null : part); // no port
    }
  }

  private static void hideEncoded(String secret) {
    String value =
        secret.startsWith("{")
            ? secret.substring(1).replace("}}", "}")
            : secret.startsWith("\"") ? secret.substring(1).replaceAll("\\\\(.)", "$1") : secret;
    hide(value);
    try {
      hide(URLDecoder.decode(value.replace("+", "%2B"), UTF_8));
    } catch (IllegalArgumentException e) {
      // A percent sign that is one: there is nothing to decode.
    }
  }

  /** The text with passwords replaced by stars. */
  public static String mask(String text) {
    String masked = text;
    // First, and the longest first of all: a pattern may cut a secret, and one be part of another.
    for (String secret :
        known.stream()
            .filter(secret -> shown.stream().noneMatch(name -> name.contains(secret)))
            .sorted(Comparator.comparing(String::length).reversed())
            .toList()) {
      masked = masked.replace(secret, MASK);
    }
    masked = USER_INFO.matcher(masked).replaceAll("//$1:" + MASK + "@");
    masked = THIN.matcher(masked).replaceAll("$1/" + MASK + "@");
    masked = PARAMETER.matcher(masked).replaceAll("$1" + MASK);
    return masked;
  }

  /** Prints masked lines: for logs, to which libraries write as well. */
  static PrintStream masking(PrintStream out) {
    return new PrintStream(new Masking(out), true, UTF_8);
  }

  /** A line is printed when it is whole. Its stream lets one thread at a time in. */
  private static final class Masking extends OutputStream {
    private final PrintStream out;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    Masking(PrintStream out) {
      this.out = out;
    }

    @Override
    public void write(int b) {
      line.write(b);
      if (b == '\n') {
        print();
      }
    }

    @Override
    public void close() {
      print();
    }

    private void print() {
      out.print(mask(line.toString(UTF_8)));
      out.flush();
      line.reset();
    }
  }
}
