package dev.outbox.store.core.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names of the tables: a prefix, and a schema when one is chosen. Only lower-case letters,
 * digits and underscores are allowed, so that a name never needs quoting and never is more than a
 * name.
 *
 * @param schema null: the connection's current schema
 * @param prefix before each table's and index's name
 */
public record PrefixedNames(@Nullable String schema, String prefix) {

  /** The prefix of an outbox unless another is chosen. */
  public static final String DEFAULT_PREFIX = "outbox_";

  /** The prefix of an inbox unless another is chosen. */
  public static final String INBOX_PREFIX = "inbox_";

  /** Between an outbox's prefix and the names of its archive's tables. */
  private static final String ARCHIVE = "archive_";

  /** The longest prefix that leaves room for that. */
  private static final int MOST_WITH_ARCHIVE = 30 - ARCHIVE.length();

  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
  private static final Pattern PREFIX = Pattern.compile("[a-z_][a-z0-9_]{0,29}");

  public PrefixedNames {
    check("schema", schema, SCHEMA, 63);
    check("prefix", prefix, PREFIX, 30);
  }

  private static void check(String what, @Nullable String name, Pattern allowed, int most) {
    if (name != null && !allowed.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "%s '%s' is not a plain name: use 1 to %s lower-case letters, digits and underscores, not beginning with a digit"
              .formatted(what, name, most));
    }
  }

  /** Refuses what is not a plain name of at most 63 characters. */
  public static String plain(String what, String name) {
    check(what, name, SCHEMA, 63);
    return name;
  }

  /** A text file beside a class. */
  public static String resource(Class<?> owner, String name) {
    try (InputStream in = owner.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("missing in the class path beside " + owner + ": " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The names of the archive of the outbox that has these.
   *
   * @throws IllegalArgumentException when the prefix is too long for an archive's names
   */
  public PrefixedNames archive() {
    if (prefix.length() > MOST_WITH_ARCHIVE) {
      throw new IllegalArgumentException(
          "prefix '%s' has %s characters, with an archive at most %s are allowed"
              .formatted(prefix, prefix.length(), MOST_WITH_ARCHIVE));
    }
    return new PrefixedNames(schema, prefix + ARCHIVE);
  }

  /** The schema with a dot, or nothing. */
  public String qualifier() {
    return schema == null ? "" : schema + ".";
  }

  /** A table's full name. */
  public String table(String name) {
    return qualifier() + prefix + name;
  }

  /** Replaces {@code ${q}} by the schema with a dot and {@code ${p}} by the prefix. */
  public String fill(String sql) {
    return sql.replace("${q}", qualifier()).replace("${p}", prefix);
  }
}
