package dev.outbox.cli;

import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Keeps passwords out of everything that is printed. */
public final class Secrets {
  private static final String MASK = "***";

  /** In a URL's parameters, in properties, in JAAS settings; SQL Server puts values in braces. */
  private static final Pattern PARAMETER =
      Pattern.compile(
          "(?i)([a-z.]*(?:password|passwd|secret|accesstoken)\\d?\\s*=\\s*)"
              + "(\"[^\"]*\"|\\{(?:[^}]|}})*}|[^&;,\\s]+?(?=[&;,\\s]|:\\s|$))");

  /** {@code //user:password@host}, but where a user's name may have an @ behind the port. */
  private static final Pattern USER_INFO =
      Pattern.compile("(?<!sqlserver:)//([^/:@\\s]*):[^?\\s]*@");

  /** Shorter ones would turn ordinary words into stars. */
  private static final int LEAST = 4;

  private static final Set<String> known = ConcurrentHashMap.newKeySet();

  private Secrets() {}

  /** From now on {@link #mask} hides this text wherever it stands. */
  public static void hide(@Nullable String secret) {
    if (secret != null && secret.length() >= LEAST) {
      known.add(secret);
    }
  }

  /** The text with passwords replaced by stars. */
  public static String mask(String text) {
    String masked = USER_INFO.matcher(text).replaceAll("//$1:" + MASK + "@");
    masked = PARAMETER.matcher(masked).replaceAll("$1" + MASK);
    // The longest first: one may be part of another.
    for (String secret :
        known.stream().sorted(Comparator.comparing(String::length).reversed()).toList()) {
      masked = masked.replace(secret, MASK);
    }
    return masked;
  }
}
